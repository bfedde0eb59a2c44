import type { FileAction } from '#contract/definitions.ts'
import type { FieldError } from '#contract/errors.ts'
import { parseTemplate } from '../../catalog/chain/references.ts'
import { listTargetFields } from '../../catalog/configuration/target-fields.ts'
import type { Action } from '../../catalog/define.ts'
import { isObject } from '../../lib/json/object.ts'
import { didYouMean } from '../../lib/nearest-name.ts'
import { renameActions, type SheetName } from './file-forms.ts'
import { isKeptSecret, valueBeside } from './literals.ts'

/** The ids behind the names of a file. */
export type Ids = {
  /** The instance ids by the ids that the file gives its actions. */
  actions: ReadonlyMap<string, string>
  sheetOf(name: SheetName): string | { problem: string }
}

type Reading = { ids: Ids; errors: FieldError[] }

/** Reads the inputs of an action of a file. `shown` are those that it has now, for credentials that are left as they are. */
export function readInputsOfFile(
  { inputs = {} }: FileAction,
  template: Action | undefined,
  shown: Record<string, unknown>,
  reading: Reading,
): Record<string, unknown> {
  const targets = new Set(listTargetFields(template))
  return Object.fromEntries(
    Object.entries(inputs).map(([field, value]) => {
      const path = `inputs.${field}`
      if (targets.has(field) && isSheetName(value)) return [field, readSheet(value, path, reading)]
      return [field, readValue(value, valueBeside(shown, field, value), path, reading)]
    }),
  )
}

export const readCondition = ({ run_if }: FileAction, reading: Reading): FileAction['run_if'] =>
  isObject(run_if) ? (readValue(run_if, undefined, 'run_if', reading) as Record<string, unknown>) : run_if

const isSheetName = (value: unknown): value is SheetName =>
  isObject(value) &&
  typeof value['sheet'] === 'string' &&
  (value['workflow'] === undefined || typeof value['workflow'] === 'string')

function readSheet(name: SheetName, field: string, { ids, errors }: Reading): string {
  const found = ids.sheetOf(name)
  if (typeof found === 'string') return found
  errors.push({ field, message: found.problem })
  return ''
}

function readValue(value: unknown, now: unknown, path: string, reading: Reading): unknown {
  if (typeof value === 'string') return readText(value, path, reading)
  if (isKeptSecret(value)) return readSecret(now, path, reading)
  if (Array.isArray(value))
    return value.map((item: unknown, n) =>
      readValue(item, valueBeside(now, String(n), item), `${path}[${n}]`, reading),
    )
  if (!isObject(value) || value.constructor !== Object) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      readValue(item, valueBeside(now, key, item), `${path}.${key}`, reading),
    ]),
  )
}

function readSecret(now: unknown, field: string, { errors }: Reading): unknown {
  if (now !== undefined) return now
  const message =
    'there is no credential to keep: set one with `loam env set`, and write {{env.NAME}} here instead'
  errors.push({ field, message })
  return ''
}

function readText(text: string, field: string, { ids, errors }: Reading): string {
  for (const part of parseTemplate(text)) {
    if (part.kind === 'text' || !('action' in part.token)) continue
    const { action } = part.token
    if (ids.actions.has(action)) continue
    const hint = didYouMean(action, [...ids.actions.keys()])
    errors.push({ field, message: `${part.source}: the sheet has no action with the id ${action}${hint}` })
  }
  return renameActions(text, (id) => ids.actions.get(id) ?? id)
}
