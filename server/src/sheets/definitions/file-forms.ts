import type { FileAction, FileInput } from '#contract/definitions.ts'
import type { ActionInstance, InputColumn } from '../../catalog/chain/definition.ts'
import { parseTemplate, type TokenPart } from '../../catalog/chain/references.ts'
import { showInputs } from '../../catalog/configuration/node.ts'
import { listTargetFields } from '../../catalog/configuration/target-fields.ts'
import type { Action } from '../../catalog/define.ts'
import { isObject } from '../../lib/json/object.ts'
import { isCredential, keptSecret } from './literals.ts'

/** A sheet as files name it. `workflow` is left out for sheets of the same workflow. */
export type SheetName = { workflow?: string; sheet: string }

/** The names that stand in a file for ids. */
export type Names = {
  actionOf(instanceId: string): string
  sheetOf(sheetId: string): SheetName | undefined
}

/** Receives the path of each credential that is written out in a configuration. */
type OnSecret = (path: string) => void

/** Returns an input as a file has it: nothing that is left at its default. */
export function toFileInput({ name, type, description, choices }: InputColumn): FileInput {
  return {
    name,
    ...(type === 'string' ? {} : { type }),
    ...(description === '' ? {} : { description }),
    ...(choices === undefined ? {} : { choices: [...choices] }),
  }
}

/** Returns an action as a file has it: names instead of ids, no credentials, nothing that is left at its default. */
export function toFileAction(
  action: ActionInstance,
  template: Action | undefined,
  names: Names,
  onSecret: OnSecret = () => undefined,
): FileAction {
  const { id, action_id, display_name, run_if, continue_workflow_if_action_fails, note } = action
  const shown = showInputs(action.inputs, template)
  const targets = new Set(listTargetFields(template))
  const inputs = Object.fromEntries(
    Object.entries(shown).map(([field, value]) => [
      field,
      (targets.has(field) && typeof value === 'string' ? names.sheetOf(value) : undefined) ??
        toFileValue(field, value, { path: `inputs.${field}`, names, onSecret }),
    ]),
  )
  const condition = toFileValue('run_if', run_if, { path: 'run_if', names, onSecret: () => undefined })
  return {
    id: names.actionOf(id),
    action: action_id,
    ...(display_name === template?.name ? {} : { name: display_name }),
    ...(Object.keys(inputs).length === 0 ? {} : { inputs }),
    ...(isObject(condition) ? { run_if: condition } : {}),
    ...(continue_workflow_if_action_fails === undefined ? {} : { continue_workflow_if_action_fails }),
    ...(note === undefined ? {} : { note }),
  }
}

type Place = { path: string; names: Names; onSecret: OnSecret }

function toFileValue(name: string, value: unknown, place: Place): unknown {
  if (typeof value === 'string') {
    if (place.path.startsWith('inputs.') && isCredential(name, value)) {
      place.onSecret(place.path)
      return keptSecret()
    }
    return renameActions(value, place.names.actionOf)
  }
  if (Array.isArray(value))
    return value.map((item: unknown, n) => toFileValue(name, item, { ...place, path: `${place.path}[${n}]` }))
  if (!isPlain(value)) return value
  // In a list of names and values, as headers are given, the name stands beside its value.
  const pair = typeof value['name'] === 'string' ? value['name'] : undefined
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      toFileValue(key === 'value' && pair !== undefined ? pair : key, item, {
        ...place,
        path: `${place.path}.${key}`,
      }),
    ]),
  )
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  isObject(value) && (value.constructor === Object || Object.getPrototypeOf(value) === null)

/** Renames the actions in the tokens of a text. The rest of the text stays as it was written. */
export function renameActions(text: string, nameOf: (id: string) => string): string {
  if (!text.includes('{{')) return text
  return parseTemplate(text)
    .map((part) => (part.kind === 'text' ? part.text : renameInToken(part, nameOf)))
    .join('')
}

function renameInToken({ token, source }: TokenPart, nameOf: (id: string) => string): string {
  if (token.kind !== 'output' && token.kind !== 'column') return source
  const start = source.indexOf(token.action)
  return source.slice(0, start) + nameOf(token.action) + source.slice(start + token.action.length)
}

/** Gives each action the id by which a file names it: its template, or with a number from the second on. */
export function nameActions(actions: readonly ActionInstance[]): ReadonlyMap<string, string> {
  const taken = new Set<string>()
  const names = new Map<string, string>()
  for (const { id, action_id } of actions) {
    const name = freeName(action_id, taken)
    taken.add(name)
    names.set(id, name)
  }
  return names
}

export function freeName(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted
  let n = 2
  while (taken.has(`${wanted}_${n}`)) n += 1
  return `${wanted}_${n}`
}
