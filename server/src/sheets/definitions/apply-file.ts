import type { DefinitionChange, FileSheet, Plan, WorkflowFile } from '#contract/definitions.ts'
import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import type { Catalogue } from '../../catalog/registry.ts'
import { type Db, inTransaction } from '../../database/connection/db.ts'
import { invalid, validationError } from '../../lib/errors.ts'
import { isObject } from '../../lib/json/object.ts'
import { didYouMean } from '../../lib/nearest-name.ts'
import { plural } from '../../lib/plural.ts'
import { recordAudit } from '../../organisation/store/audit.ts'
import { shareLockOrganisation } from '../../organisation/store/organisations.ts'
import type { ActionEditing } from '../actions.ts'
import { readEnvironment } from '../configuration-environment.ts'
import { editWithFollowers, findNamingSheets } from '../input-renames.ts'
import { changeSheet, createSheet, deleteSheet } from '../sheets.ts'
import { listDiscoveredOutputs } from '../store/action-outputs.ts'
import { editDefinition, getDefinition, type SheetState } from '../store/definitions.ts'
import { isMainSheet, listSheets, type SheetRecord } from '../store/sheets.ts'
import { listWorkflows, lockWorkflow, type WorkflowFor } from '../store/workflows.ts'
import { createWorkflow, renameWorkflow } from '../workflows.ts'
import { editSheet, type SheetEdit, type SheetEditing } from './apply-sheet.ts'
import type { SheetName } from './file-forms.ts'
import { listFields, sumUp } from './list-changes.ts'
import { listTargets, nameSheets } from './write-file.ts'

export type Applying = Pick<ActionEditing, 'db' | 'author' | 'mayUse' | 'installation'> & {
  catalogue: Catalogue
  /** Throws if the caller may not create workflows. */
  requireCreation(): void
}

/** A file, and the workflow that it is for if the caller names one. */
export type Wanted = {
  definition: WorkflowFile
  workflow_id?: string
  allow_destroy?: boolean
}

export type Applied = { plan: Plan; warnings: Warning[] }

/** Ends the transaction of a plan, which is an application that is undone: so a plan and what is applied never differ. */
class Undone extends Error {
  readonly applied: Applied

  constructor(applied: Applied) {
    super('a plan is not kept')
    this.applied = applied
  }
}

/** Returns what applying a file would change. */
export async function planFile(applying: Applying, body: Wanted): Promise<Applied> {
  try {
    return await inTransaction(applying.db, async (trx) => {
      throw new Undone(await applyIn(trx, applying, body))
    })
  } catch (cause) {
    if (!(cause instanceof Undone)) throw cause
    const { plan, warnings } = cause.applied
    const isNew = plan.changes.some(({ op, kind }) => op === 'add' && kind === 'workflow')
    return { plan: { ...plan, ...(isNew ? { workflow_id: null } : {}) }, warnings }
  }
}

/** Turns a workflow into what a file says, in one transaction: no row runs half an edit. */
export async function applyFile(applying: Applying, body: Wanted): Promise<Applied> {
  return inTransaction(applying.db, async (trx) => {
    const { plan, warnings } = await applyIn(trx, applying, body)
    const { destroy } = plan.summary
    if (destroy > 0 && body.allow_destroy !== true) {
      const gone = plan.changes.filter(({ op }) => op === 'destroy')
      const names = gone.map(({ kind, name }) => `${kind} ${JSON.stringify(name)}`)
      throw invalid(
        'allow_destroy',
        `must be true, because this would remove ${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`,
      )
    }
    return { plan: { ...plan, applied: true }, warnings }
  })
}

async function applyIn(trx: Db, applying: Applying, body: Wanted): Promise<Applied> {
  const { author } = applying
  const { definition: file } = body
  await shareLockOrganisation(trx, author.orgId)
  const visible = (await listWorkflows(trx, author.orgId, author.memberId)).filter(applying.mayUse)
  const found = findTarget(visible, body)
  const changes: DefinitionChange[] = []
  const workflowId = found?.workflow_id ?? (await addWorkflow(trx, applying, file, changes))
  if (found !== undefined) {
    await lockWorkflow(trx, author.orgId, workflowId)
    if (found.name !== file.workflow) {
      await renameWorkflow(trx, author, workflowId, file.workflow)
      const { name: before } = found
      changes.push({
        op: 'rename',
        kind: 'workflow',
        sheet: null,
        name: file.workflow,
        before,
        after: file.workflow,
      })
    }
  }
  const sheets = await matchSheets(trx, applying, { workflowId, file, isNew: found === undefined, changes })
  const edits = await editSheets(trx, applying, { workflowId, file, sheets, visible })
  const errors = edits.flatMap((edit, n) => withPlaces(edit.errors, n))
  if (errors.length > 0) throw validationError(errors)
  changes.push(...edits.flatMap((edit) => edit.changes))
  if (changes.length > 0)
    await recordAudit(trx, author.orgId, author, {
      action: 'definition.applied',
      target: workflowId,
      details: { ...sumUp(changes) },
    })
  const warnings = edits.flatMap((edit, n) => withPlaces(edit.warnings, n))
  return {
    plan: {
      workflow_id: workflowId,
      workflow: file.workflow,
      changes,
      summary: sumUp(changes),
      applied: false,
    },
    warnings,
  }
}

function withPlaces<Item extends FieldError>(items: readonly Item[], n: number): Item[] {
  return items.map((item) => ({ ...item, field: `sheets[${n}].${item.field}` }))
}

/** Finds the workflow that a file describes: by id, by its name, or by the name that it had. */
function findTarget(
  visible: readonly WorkflowFor[],
  { definition, workflow_id }: Wanted,
): WorkflowFor | undefined {
  if (workflow_id !== undefined) {
    const found = visible.find((one) => one.workflow_id === workflow_id)
    if (found === undefined)
      throw invalid('workflow_id', 'there is no workflow with this id that you may use')
    return found
  }
  const named = (name: string | undefined) => visible.filter((one) => one.name === name)
  const same = named(definition.workflow)
  const candidates = same.length > 0 ? same : named(definition.was)
  if (candidates.length > 1) {
    const ids = candidates
      .slice(0, 10)
      .map((one) => one.workflow_id)
      .join(', ')
    throw invalid('workflow_id', `several workflows have this name; give one of ${ids}`)
  }
  return candidates[0]
}

async function addWorkflow(
  trx: Db,
  { author, requireCreation }: Applying,
  { workflow }: WorkflowFile,
  changes: DefinitionChange[],
): Promise<string> {
  requireCreation()
  const made = await createWorkflow(trx, author, workflow)
  changes.push({ op: 'add', kind: 'workflow', sheet: null, name: workflow })
  return made.workflow_id
}

type Workflow = { workflowId: string; file: WorkflowFile; isNew: boolean; changes: DefinitionChange[] }

/** Returns the sheet for each of the file. Sheets are made, renamed, set and removed as the file says. */
async function matchSheets(
  trx: Db,
  { author }: Applying,
  { workflowId, file, isNew, changes }: Workflow,
): Promise<SheetRecord[]> {
  const existing = await listSheets(trx, author.orgId, workflowId)
  const main = existing.find(isMainSheet)
  if (main === undefined) throw new Error(`workflow ${workflowId} has no main sheet`)
  const left = existing.filter((sheet) => !isMainSheet(sheet))
  const take = (name: string | undefined) => {
    const at = left.findIndex((sheet) => sheet.name === name)
    return at < 0 ? undefined : left.splice(at, 1)[0]
  }
  const children = file.sheets.map((given, n) => (n === 0 ? main : take(given.sheet)))
  const matched: SheetRecord[] = []
  for (const [n, given] of file.sheets.entries()) {
    const current = children[n] ?? take(given.was)
    if (current === undefined) {
      const { sheet: name } = given
      changes.push({ op: 'add', kind: 'sheet', sheet: name, name })
      matched.push(await createSheet(trx, author, workflowId, { name, ...settingsOf(given) }))
    } else matched.push(await setSheet(trx, author, current, { given, isNew, changes }))
  }
  for (const sheet of left) {
    changes.push({ op: 'destroy', kind: 'sheet', sheet: sheet.name, name: sheet.name })
    await deleteSheet(trx, author, sheet)
  }
  return matched
}

const settingsOf = ({ auto_run = false, cache_enabled = false, cache_since = null }: FileSheet) => ({
  auto_run,
  cache_enabled,
  cache_since,
})

async function setSheet(
  trx: Db,
  author: Applying['author'],
  sheet: SheetRecord,
  { given, isNew, changes }: { given: FileSheet; isNew: boolean; changes: DefinitionChange[] },
): Promise<SheetRecord> {
  let next = sheet
  const name = given.sheet
  if (isNew) changes.push({ op: 'add', kind: 'sheet', sheet: name, name })
  if (sheet.name !== name) {
    next = await changeSheet(trx, author, next, { name })
    if (!isNew)
      changes.push({ op: 'rename', kind: 'sheet', sheet: name, name, before: sheet.name, after: name })
  }
  const { auto_run, cache_enabled, cache_since } = sheet
  const settings = settingsOf(given)
  const where = { kind: 'sheet', sheet: name, name } as const
  const changed = listFields(where, { auto_run, cache_enabled, cache_since }, settings)
  if (changed.length === 0) return next
  if (!isNew) changes.push(...changed)
  return changeSheet(trx, author, next, settings)
}

type Sheets = Pick<Workflow, 'workflowId' | 'file'> & {
  sheets: readonly SheetRecord[]
  visible: readonly WorkflowFor[]
}

/** Edits the definition of each sheet. All their errors are found before one is thrown. */
async function editSheets(trx: Db, applying: Applying, { workflowId, file, sheets, visible }: Sheets) {
  const { author, catalogue, mayUse, installation } = applying
  const own = new Map(sheets.map(({ name, sheet_id }) => [name, sheet_id]))
  const others = await listNamedElsewhere(trx, author.orgId, file, visible)
  const sheetOf = (name: SheetName) => findSheetId(name, file, own, others)
  const edits: SheetEdit[] = []
  for (const [n, sheet] of sheets.entries()) {
    const given = file.sheets[n]
    if (given === undefined) continue
    const stored = await getDefinition(trx, sheet)
    const names = await nameSheets(trx, { ...author, mayUse }, workflowId, listTargets(stored, catalogue))
    const editing: SheetEditing = {
      trx,
      author,
      mayUse,
      sheet,
      catalogue,
      discovered: await listDiscoveredOutputs(trx, sheet),
      environment: await readEnvironment(trx, sheet, installation),
      sheetOf,
      nameOfSheet: (id) => nameInFile(id, sheets) ?? names.get(id.toLowerCase()),
    }
    edits.push(await storeEdit(trx, applying, editing, given))
  }
  return edits
}

const nameInFile = (id: string, sheets: readonly SheetRecord[]): SheetName | undefined => {
  const sheet = sheets.find(({ sheet_id }) => sheet_id === id.toLowerCase())
  return sheet === undefined ? undefined : { sheet: sheet.name }
}

/** Edits one sheet. Inputs that are renamed are renamed everywhere else as well. */
async function storeEdit(
  trx: Db,
  { author, catalogue }: Applying,
  editing: SheetEditing,
  given: FileSheet,
): Promise<SheetEdit> {
  const { sheet } = editing
  const edit = async (state: SheetState) => {
    const made = await editSheet(editing, given, state)
    const { definition, nextColumn, actionSerials } = made
    const isChanged = definition !== state.definition && made.errors.length === 0
    return { ...(isChanged ? { definition, nextColumn, actionSerials } : {}), result: made }
  }
  const renames = given.inputs?.some(({ was }) => was !== undefined) === true
  if (!renames) return editDefinition(trx, author, sheet, edit)
  const naming = await findNamingSheets(trx, sheet)
  return (await editWithFollowers(trx, { author, sheet, catalogue }, naming, edit)).result
}

/** Lists the sheets of other workflows that the file names, by workflow and name. */
async function listNamedElsewhere(
  trx: Db,
  orgId: string,
  file: WorkflowFile,
  visible: readonly WorkflowFor[],
): Promise<ReadonlyMap<string, SheetRecord[]>> {
  const wanted = new Set(listWorkflowNames(file))
  const found = new Map<string, SheetRecord[]>()
  for (const { workflow_id, name } of visible.filter((one) => wanted.has(one.name)))
    found.set(name, [...(found.get(name) ?? []), ...(await listSheets(trx, orgId, workflow_id))])
  return found
}

function listWorkflowNames({ sheets }: WorkflowFile): unknown[] {
  const values = sheets.flatMap(({ actions = [] }) =>
    actions.flatMap(({ inputs = {} }) => Object.values(inputs)),
  )
  return values.flatMap((value) => (isObject(value) && 'sheet' in value ? [value['workflow']] : []))
}

function findSheetId(
  { workflow, sheet }: SheetName,
  file: WorkflowFile,
  own: ReadonlyMap<string, string>,
  others: ReadonlyMap<string, SheetRecord[]>,
): string | { problem: string } {
  if (workflow === undefined || workflow === file.workflow) {
    const id = own.get(sheet)
    return (
      id ?? { problem: `the file has no sheet ${JSON.stringify(sheet)}${didYouMean(sheet, [...own.keys()])}` }
    )
  }
  const named = others.get(workflow)
  if (named === undefined)
    return { problem: `there is no workflow ${JSON.stringify(workflow)} that you may use` }
  const found = named.filter(({ name }) => name === sheet)
  const [first] = found
  if (first === undefined)
    return {
      problem: `the workflow ${JSON.stringify(workflow)} has no sheet ${JSON.stringify(sheet)}${didYouMean(
        sheet,
        named.map(({ name }) => name),
      )}`,
    }
  if (found.length > 1)
    return { problem: `${plural(found.length, 'sheet')} are named so; write the id of one instead` }
  return first.sheet_id
}
