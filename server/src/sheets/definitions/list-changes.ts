import { isDeepStrictEqual } from 'node:util'
import type { DefinitionChange, FileAction, FileInput, Plan } from '#contract/definitions.ts'
import type { ActionInstance, InputColumn } from '../../catalog/chain/definition.ts'
import type { Action } from '../../catalog/define.ts'
import { isObject } from '../../lib/json/object.ts'
import { type Names, toFileAction, toFileInput } from './file-forms.ts'

type Where = Pick<DefinitionChange, 'kind' | 'sheet' | 'name'>

/** Lists what differs between two inputs, as a file has them. */
export function listInputChanges(sheet: string, before: InputColumn, after: InputColumn): DefinitionChange[] {
  const where = { kind: 'input', sheet, name: after.name } as const
  return [
    ...listRename(where, before.name),
    ...listFields(where, withoutName(toFileInput(before)), withoutName(toFileInput(after))),
  ]
}

const withoutName = ({ name: _name, ...rest }: FileInput) => rest

/** Lists what differs between two configurations of an action, as a file has them. */
export function listActionChanges(
  sheet: string,
  before: ActionInstance,
  after: ActionInstance,
  { template, names }: { template: Action | undefined; names: Names },
): DefinitionChange[] {
  const where = { kind: 'action', sheet, name: after.display_name } as const
  const [now, next] = [toFileAction(before, template, names), toFileAction(after, template, names)]
  return [...listRename(where, before.display_name), ...listFields(where, spread(now), spread(next))]
}

/** Returns the fields of an action as they are listed: each input is one of its own. */
function spread({ inputs = {}, run_if, continue_workflow_if_action_fails, note }: FileAction) {
  return {
    ...Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`inputs.${name}`, value])),
    run_if,
    continue_workflow_if_action_fails,
    note,
  }
}

function listRename(where: Where, before: string): DefinitionChange[] {
  return where.name === before ? [] : [{ op: 'rename', ...where, before, after: where.name }]
}

export function listFields(where: Where, before: object, after: object): DefinitionChange[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return fields.flatMap((field): DefinitionChange[] => {
    const [was, is] = [read(before, field), read(after, field)]
    if (isDeepStrictEqual(was, is)) return []
    return [{ op: 'change', ...where, field, before: was ?? null, after: is ?? null }]
  })
}

const read = (of: object, field: string): unknown =>
  isObject(of) && Object.hasOwn(of, field) ? of[field] : undefined

export function sumUp(changes: readonly DefinitionChange[]): Plan['summary'] {
  const count = (...ops: DefinitionChange['op'][]) => changes.filter(({ op }) => ops.includes(op)).length
  return { add: count('add'), change: count('change', 'rename', 'move'), destroy: count('destroy') }
}
