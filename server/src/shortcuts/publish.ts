import type { Warning } from '#contract/envelope.ts'
import type { GivenInput, GivenOutput, ShortcutDetails } from '#contract/shortcuts.ts'
import type { Definition } from '../catalog/chain/definition.ts'
import { describeOutputs, type OutputDescriptor } from '../catalog/describe.ts'
import type { Catalogue } from '../catalog/registry.ts'
import type { Db } from '../database/connection/db.ts'
import { invalid, notFound, validationError } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { type Author, recordChange, recordCreation } from '../organisation/changes.ts'
import type { Member } from '../organisation/store/members.ts'
import { discoverActionOutputs } from '../sheets/action-outputs.ts'
import { getDefinition } from '../sheets/store/definitions.ts'
import { findSheet, type SheetRecord } from '../sheets/store/sheets.ts'
import { lockWorkflow } from '../sheets/store/workflows.ts'
import { chooseInputs, chooseOutputs, deriveInputs, deriveOutputs } from './schema.ts'
import {
  findShortcut,
  insertShortcut,
  insertVersion,
  lockShortcut,
  type ShortcutRecord,
  type ShortcutVersion,
  updateShortcut,
} from './store/shortcuts.ts'

export type Publisher = { db: Db; author: Author; catalogue: Catalogue }

/** The lists of inputs and outputs that replace the derived ones. */
export type GivenSchemas = { inputs?: GivenInput[]; outputs?: GivenOutput[] }

/** Publishes the current version of a workflow as a shortcut with a form. */
export async function publishShortcut(
  publisher: Publisher,
  workflowId: string,
  creator: Pick<Member, 'member_id' | 'email'>,
  { shown, given }: { shown: ShortcutDetails; given: GivenSchemas },
): Promise<ShortcutRecord> {
  const { db, author } = publisher
  const key = { org_id: author.orgId, shortcut_id: newId() }
  const entry = {
    action: 'shortcut.published',
    target: key.shortcut_id,
    details: { name: shown.name, workflow_id: workflowId },
  }
  return recordCreation(db, author, entry, async (trx) => {
    const frozen = await freeze({ ...publisher, db: trx }, workflowId, given, null)
    const { member_id: creator_id, email: creator_email } = creator
    await insertShortcut(trx, { ...key, ...shown, workflow_id: workflowId, creator_id, creator_email })
    await insertVersion(trx, key, { version: 1, frozen, createdBy: author.email })
    return requireRecord(trx, key)
  })
}

/**
 * Publishes the current version of the workflow: runs use it from now on. Also publishes a shortcut again
 * that was unpublished or archived.
 */
export async function republishShortcut(
  publisher: Publisher,
  shortcut: ShortcutRecord,
  given: GivenSchemas,
): Promise<ShortcutRecord> {
  if (shortcut.parent_id !== null) {
    throw invalid('id', `is a shared copy; republish the original shortcut instead: ${shortcut.parent_id}`)
  }
  const { db, author } = publisher
  const entry = { action: 'shortcut.republished', target: shortcut.shortcut_id }
  return recordChange(db, author, entry, async (trx) => {
    await lockShortcut(trx, shortcut)
    const current = await requireRecord(trx, shortcut)
    const frozen = await freeze({ ...publisher, db: trx }, shortcut.workflow_id, given, current)
    const version = current.version + 1
    await insertVersion(trx, shortcut, { version, frozen, createdBy: author.email })
    await updateShortcut(trx, shortcut, { version, is_published: true, is_archived: false })
    return requireRecord(trx, shortcut)
  })
}

/** Creates a version of the workflow. The workflow is locked, so that it cannot change in the meantime. */
async function freeze(
  { db, author, catalogue }: Publisher,
  workflowId: string,
  given: GivenSchemas,
  before: ShortcutVersion | null,
): Promise<ShortcutVersion> {
  await lockWorkflow(db, author.orgId, workflowId)
  const sheet = await findSheet(db, author.orgId, workflowId)
  if (sheet === undefined) throw notFound('Workflow')
  const definition = await getDefinition(db, sheet)
  if (definition.actions.length === 0) {
    throw invalid('workflow', 'has no action to run on its main sheet; add one first')
  }
  const derivedInputs = deriveInputs(definition.inputs, before?.inputs ?? [])
  const outputs = await listOutputs({ db, author, catalogue }, sheet, definition)
  const derivedOutputs = deriveOutputs(outputs, before?.outputs ?? [])
  const wantedInputs =
    given.inputs ??
    (before?.inputs_given ? before.inputs.map((entry) => keepGiven(entry, definition)) : undefined)
  const wantedOutputs = given.outputs ?? (before?.outputs_given ? before.outputs : undefined)
  const chosen = {
    inputs:
      wantedInputs === undefined
        ? { entries: derivedInputs, errors: [] }
        : chooseInputs(derivedInputs, wantedInputs),
    outputs:
      wantedOutputs === undefined
        ? { entries: derivedOutputs, errors: [] }
        : chooseOutputs(derivedOutputs, wantedOutputs, { definition, catalogue }),
  }
  const errors = [...chosen.inputs.errors, ...chosen.outputs.errors]
  if (errors.length > 0) throw validationError(errors)
  return {
    revision: sheet.revision,
    continue_on_fail: sheet.continue_on_fail,
    inputs: chosen.inputs.entries,
    outputs: chosen.outputs.entries,
    inputs_given: wantedInputs !== undefined,
    outputs_given: wantedOutputs !== undefined,
  }
}

/** Returns a field as it was given before. A field that is named like its input follows when the input is renamed. */
function keepGiven(
  { column, ...entry }: ShortcutVersion['inputs'][number],
  { inputs }: Definition,
): GivenInput {
  const input = inputs.find((one) => one.column === column)
  return input?.former_names?.includes(entry.name) ? { ...entry, name: input.name } : entry
}

/**
 * Lists the outputs of every action of the chain, in its order, as far as they are declared or known from a
 * run.
 */
async function listOutputs(
  { db, author, catalogue }: Publisher,
  sheet: SheetRecord,
  { actions }: Definition,
): Promise<OutputDescriptor[]> {
  const all: OutputDescriptor[] = []
  for (const action of actions) {
    const template = catalogue.get(action.action_id)
    if (template === undefined) continue
    const shown = await discoverActionOutputs({ db, author, sheet, catalogue }, action)
    all.push(...(shown.length > 0 ? shown : describeOutputs(template, action)))
  }
  return all
}

/** Returns the warnings for the publisher (D74). */
export function listWarnings({ outputs }: Pick<ShortcutRecord, 'outputs'>): Warning[] {
  if (outputs.length > 0) return []
  const message =
    'the shortcut has no output: its runs are billed and return {}. Run a row first, or name outputs with --outputs, and republish'
  return [{ field: 'outputs', code: 'no_outputs', message }]
}

async function requireRecord(
  db: Db,
  { org_id, shortcut_id }: { org_id: string; shortcut_id: string },
): Promise<ShortcutRecord> {
  const found = await findShortcut(db, org_id, null, shortcut_id)
  if (found === undefined) throw notFound('Shortcut')
  return found
}
