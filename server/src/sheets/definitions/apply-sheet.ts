import { isDeepStrictEqual } from 'node:util'
import type { DefinitionChange, FileSheet } from '#contract/definitions.ts'
import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import type { ActionInstance, Definition, InputColumn } from '../../catalog/chain/definition.ts'
import { removeAction, replaceAction } from '../../catalog/chain/edit.ts'
import { findRenames } from '../../catalog/chain/input-renames.ts'
import {
  type ChainView,
  type DiscoveredOutputs,
  typesIn,
  viewChain,
} from '../../catalog/configuration/chain-view.ts'
import { configureAction } from '../../catalog/configuration/configure.ts'
import type { ConfigurationEnvironment } from '../../catalog/configuration/environment.ts'
import { showInputs } from '../../catalog/configuration/node.ts'
import { checkConfiguration } from '../../catalog/configuration/warnings.ts'
import type { Action } from '../../catalog/define.ts'
import type { Catalogue } from '../../catalog/registry.ts'
import type { Db } from '../../database/connection/db.ts'
import { didYouMean } from '../../lib/nearest-name.ts'
import { addTargetProblems, type ActionEditing } from '../actions.ts'
import { applyChange } from '../input-changes.ts'
import { followInOwnChain } from '../input-renames.ts'
import type { SheetRecord } from '../store/sheets.ts'
import type { SheetName } from './file-forms.ts'
import { listActionChanges, listInputChanges } from './list-changes.ts'
import { listMoved, matchActions, type Matched } from './match-actions.ts'
import { type Ids, readCondition, readInputsOfFile } from './read-values.ts'

/** The parts that the edit of a sheet needs. */
export type SheetEditing = Pick<ActionEditing, 'author' | 'mayUse'> & {
  trx: Db
  sheet: SheetRecord
  catalogue: Catalogue
  discovered: DiscoveredOutputs
  environment: ConfigurationEnvironment
  sheetOf: Ids['sheetOf']
  nameOfSheet(id: string): SheetName | undefined
}

type State = { definition: Definition; nextColumn: number; actionSerials: Record<string, number> }

/** The sheet as a file wants it. If there are errors, nothing may be stored. */
export type SheetEdit = State & { changes: DefinitionChange[]; errors: FieldError[]; warnings: Warning[] }

/** Turns a sheet into what a file says. Actions that stay as they are keep their results. */
export async function editSheet(editing: SheetEditing, file: FileSheet, state: State): Promise<SheetEdit> {
  const inputs = editInputs(file, state)
  const renames = findRenames(state.definition.inputs, inputs.inputs)
  const followed =
    renames === null ? state.definition : followInOwnChain(state.definition, renames, editing).definition
  const base = { ...followed, inputs: inputs.inputs }
  const actions = await editActions(editing, file, base, state.actionSerials)
  const isSame = isDeepStrictEqual(actions.definition, state.definition)
  return {
    definition: isSame ? state.definition : actions.definition,
    nextColumn: inputs.nextColumn,
    actionSerials: actions.serials,
    changes: [...inputs.changes, ...actions.changes],
    errors: actions.errors,
    warnings: actions.warnings,
  }
}

function editInputs(
  { sheet, inputs: given = [] }: FileSheet,
  { definition: { inputs }, nextColumn: firstColumn }: State,
): { inputs: InputColumn[]; nextColumn: number; changes: DefinitionChange[] } {
  const left = new Map(inputs.map((input) => [input.name, input]))
  const changes: DefinitionChange[] = []
  const kept = new Map<InputColumn, InputColumn>()
  const added: InputColumn[] = []
  let nextColumn = firstColumn
  for (const { name, was, type = 'string', description = '', choices } of given) {
    const current = left.get(name) ?? (was === undefined ? undefined : left.get(was))
    if (current === undefined) {
      added.push({ column: nextColumn, name, type, description, ...(choices && { choices }) })
      nextColumn += 1
      changes.push({ op: 'add', kind: 'input', sheet, name })
      continue
    }
    left.delete(current.name)
    // Names are unique in the file, so those of other inputs are not in the way.
    const next = applyChange(current, { name, type, description, ...(choices && { choices }) }, [current])
    kept.set(current, next)
    changes.push(...listInputChanges(sheet, current, next))
  }
  for (const name of left.keys()) changes.push({ op: 'destroy', kind: 'input', sheet, name })
  const stay = inputs.flatMap((input) => kept.get(input) ?? [])
  return { inputs: [...stay, ...added], nextColumn, changes }
}

type ActionsEdit = {
  definition: Definition
  serials: Record<string, number>
  changes: DefinitionChange[]
  errors: FieldError[]
  warnings: Warning[]
}

async function editActions(
  editing: SheetEditing,
  file: FileSheet,
  base: Definition,
  actionSerials: Record<string, number>,
): Promise<ActionsEdit> {
  const { catalogue, nameOfSheet } = editing
  const { sheet } = file
  const { matched, removed, serials } = matchActions(
    file.actions ?? [],
    base.actions,
    catalogue,
    actionSerials,
  )
  const { configured, errors, warnings } = await configureAll(editing, matched, base)
  const fileIds = new Map(matched.map(({ instanceId, fileId }) => [instanceId, fileId]))
  const names = { actionOf: (id: string) => fileIds.get(id) ?? id, sheetOf: nameOfSheet }
  const moved = listMoved(
    base.actions.map(({ id }) => id),
    matched.map(({ instanceId }) => instanceId),
  )
  const changes: DefinitionChange[] = []
  for (const [place, { current, name, given }] of matched.entries()) {
    const next = configured[place]
    if (next === undefined) continue
    if (current === null) changes.push({ op: 'add', kind: 'action', sheet, name })
    else
      changes.push(
        ...listActionChanges(sheet, current, next, { template: catalogue.get(given.action), names }),
        ...(moved.has(current.id) ? [{ op: 'move', kind: 'action', sheet, name } as const] : []),
      )
  }
  for (const { display_name: name } of removed) changes.push({ op: 'destroy', kind: 'action', sheet, name })
  return {
    definition: placeActions(base, matched, configured, removed),
    serials,
    changes,
    errors,
    warnings,
  }
}

/** Puts the actions in the order of the file. Results become stale only behind what changed or went (D26). */
function placeActions(
  base: Definition,
  matched: readonly Matched[],
  configured: readonly ActionInstance[],
  removed: readonly ActionInstance[],
): Definition {
  const rest = removed.reduce((definition, { id }) => removeAction(definition, id), base)
  const byId = new Map(rest.actions.map((action) => [action.id, action]))
  const ordered = matched.flatMap(({ instanceId }, place) => byId.get(instanceId) ?? configured[place] ?? [])
  let definition = { ...rest, actions: ordered }
  for (const [place, { current }] of matched.entries()) {
    const next = configured[place]
    const now = next === undefined ? undefined : byId.get(next.id)
    if (current !== null && next !== undefined && now !== undefined)
      definition = replaceAction(definition, { ...next, epoch: now.epoch })
  }
  return definition
}

/** Configures every action of the file, in its order, with all errors. */
async function configureAll(
  editing: SheetEditing,
  matched: readonly Matched[],
  base: Definition,
): Promise<{ configured: ActionInstance[]; errors: FieldError[]; warnings: Warning[] }> {
  const { catalogue, discovered } = editing
  const ids = {
    actions: new Map(matched.map(({ fileId, instanceId }) => [fileId, instanceId])),
    sheetOf: editing.sheetOf,
  }
  const started = matched.map(({ current, instanceId, given, name }): ActionInstance =>
    current === null
      ? { id: instanceId, action_id: given.action, display_name: name, inputs: {}, epoch: 0 }
      : { ...current, display_name: name },
  )
  const chain = viewChain({ ...base, actions: started }, catalogue, discovered)
  const links = new Map(chain.links)
  const configured: ActionInstance[] = []
  const errors: FieldError[] = []
  const warnings: Warning[] = []
  for (const [place, one] of matched.entries()) {
    const blank = started[place]
    if (blank === undefined) continue
    const template = catalogue.get(one.given.action)
    const made = await configureOne(editing, { one, blank, template, chain: { ...chain, links }, ids })
    configured.push(made.action)
    errors.push(...made.errors)
    warnings.push(...made.warnings)
    // The outputs that later actions see may follow from the configuration.
    const link = viewChain({ inputs: [], actions: [made.action] }, catalogue, discovered).links.get(blank.id)
    if (link !== undefined) links.set(blank.id, { ...link, place })
  }
  const definition = { ...base, actions: configured }
  for (const [place, action] of configured.entries()) {
    const at = (field: string) => `actions[${place}].${field}`
    for (const problem of checkConfiguration(action, { definition, links }, editing.environment)) {
      const { field, code, message } = problem
      if (code === 'unresolved_reference') errors.push({ field: at(field), message })
      else warnings.push({ ...problem, field: at(field) })
    }
  }
  return { configured, errors: distinctErrors(errors), warnings }
}

function distinctErrors(errors: readonly FieldError[]): FieldError[] {
  const known = new Set<string>()
  return errors.filter(({ field }) => (known.has(field) ? false : known.add(field)))
}

type One = {
  one: Matched
  blank: ActionInstance
  template: Action | undefined
  chain: ChainView
  ids: Ids
}

async function configureOne(
  editing: SheetEditing,
  { one: { place, given }, blank, template, chain, ids }: One,
): Promise<{ action: ActionInstance; errors: FieldError[]; warnings: Warning[] }> {
  const at = (field: string) => `actions[${place}].${field}`
  const errors: FieldError[] = []
  if (template === undefined) {
    const hint = didYouMean(
      given.action,
      editing.catalogue.list().map(({ id }) => id),
    )
    return {
      action: blank,
      errors: [{ field: at('action'), message: `there is no action ${given.action}${hint}` }],
      warnings: [],
    }
  }
  const reading = { ids, errors }
  const inputs = readInputsOfFile(given, template, showInputs(blank.inputs, template), reading)
  const cleared = Object.keys(blank.inputs).filter((name) => !Object.hasOwn(inputs, name))
  const made = configureAction(
    blank,
    template,
    {
      inputs: { ...inputs, ...Object.fromEntries(cleared.map((name) => [name, null])) },
      run_if: readCondition(given, reading) ?? null,
      note: given.note ?? '',
    },
    typesIn(chain),
  )
  const checked = await addTargetProblems(editing.trx, editing, { template, before: blank.inputs }, made)
  const { continue_workflow_if_action_fails: flag } = given
  const { continue_workflow_if_action_fails: _flag, ...rest } = checked.action
  const action = flag === undefined ? rest : { ...rest, continue_workflow_if_action_fails: flag }
  const keyId = editing.author.keyId
  const isChanged = !isDeepStrictEqual(action.inputs, blank.inputs)
  // Fields that an action does not have are warnings elsewhere: a file would lose them without a word.
  const unknown = checked.warnings.filter(({ code }) => code === 'unknown_field')
  const dropped = checked.warnings.filter(({ code }) => code !== 'unknown_field')
  return {
    action: isChanged && keyId !== null ? { ...action, configured_with: keyId } : action,
    errors: [
      ...errors,
      ...checked.errors,
      ...unknown.map(({ field, message }) => ({ field, message: message.replace('; it was ignored', '') })),
    ].map(({ field, message }) => ({ field: at(field), message })),
    warnings: dropped.map((warning) => ({ ...warning, field: at(warning.field) })),
  }
}
