import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import type { AddActionBody, Configuration } from '#contract/actions.ts'
import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import type { ActionInstance, Definition } from '../../catalog/chain/definition.ts'
import { addAction as insert, nextInstanceId, replaceAction } from '../../catalog/chain/edit.ts'
import { type ChainView, typesIn, viewChain } from '../../catalog/configuration/chain-view.ts'
import { configureAction, type Configured } from '../../catalog/configuration/configure.ts'
import { addTexts } from '../../catalog/configuration/warning-texts.ts'
import { distinct } from '../../catalog/configuration/warnings.ts'
import { validationError } from '../../lib/errors.ts'
import { type ActionEditing, addTargetProblems, prepareAction } from '../../sheets/actions.ts'
import { listProblems } from '../../sheets/configuration-environment.ts'
import { listDiscoveredOutputs } from '../../sheets/store/action-outputs.ts'

/** An action as it is tested: saved, changed for the test, or not added yet. */
export type Draft = {
  instance: ActionInstance
  /** The chain with the action as it is tested. */
  definition: Definition
  /** Set if the action is in the chain with the same inputs and condition. */
  isSaved: boolean
  warnings: Warning[]
}

/** The action to test: one of the chain with changes, or a new one. */
export type Tested =
  | { action: ActionInstance; given: Pick<Configuration, 'inputs' | 'run_if'> }
  | { action: null; given: z.output<typeof AddActionBody> }

/** Returns whether two configurations of an action give the same result on a row. */
export const isSameConfiguration = (one: ActionInstance, other: ActionInstance): boolean =>
  isDeepStrictEqual(
    [one.action_id, one.inputs, one.run_if ?? null],
    [other.action_id, other.inputs, other.run_if ?? null],
  )

/** Lists the errors of a configuration, without testing it. */
export async function listDraftErrors(
  editing: ActionEditing,
  definition: Definition,
  tested: Tested,
): Promise<FieldError[]> {
  const discovered = await listDiscoveredOutputs(editing.db, editing.sheet)
  const chain = viewChain(definition, editing.catalogue, discovered)
  return (await configureDraft(editing, chain, tested)).errors
}

/** Configures the action for a test as Add Action and Configure Action do, without saving it. `further` are other errors of the body. */
export async function makeDraft(
  editing: ActionEditing,
  tested: Tested,
  definition: Definition,
  further: readonly FieldError[],
): Promise<Draft> {
  const { db, sheet, catalogue, installation, author } = editing
  const discovered = await listDiscoveredOutputs(db, sheet)
  const chain = viewChain(definition, catalogue, discovered)
  const { action, errors, warnings } = await configureDraft(editing, chain, tested)
  if (errors.length + further.length > 0) throw validationError([...further, ...errors])
  const isSaved = tested.action !== null && isSameConfiguration(action, tested.action)
  // The holder of the key is responsible for the sheets that the inputs resolve to (D36).
  const instance = isSaved || author.keyId === null ? action : { ...action, configured_with: author.keyId }
  const next = withDraft(definition, tested, instance)
  const problems = await listProblems(
    db,
    sheet,
    { action: instance, chain: viewChain(next, catalogue, discovered) },
    installation,
  )
  const template = catalogue.get(instance.action_id)
  return {
    instance,
    definition: next,
    isSaved,
    warnings: addTexts(distinct([...warnings, ...problems]), template),
  }
}

async function configureDraft(editing: ActionEditing, chain: ChainView, tested: Tested): Promise<Configured> {
  const { db, sheet, catalogue } = editing
  const { action, given } = tested
  if (action === null) {
    const { id } = nextInstanceId(sheet.action_serials, given.action_id)
    const made = prepareAction(id, given, chain, catalogue)
    return addTargetProblems(db, editing, { template: catalogue.get(given.action_id), before: {} }, made)
  }
  const template = catalogue.get(action.action_id)
  const made = configureAction(action, template, given, typesIn(chain))
  return addTargetProblems(db, editing, { template, before: action.inputs }, made)
}

function withDraft(definition: Definition, { action, given }: Tested, instance: ActionInstance): Definition {
  if (action !== null) return replaceAction(definition, instance)
  const added = insert(definition, instance, given.after)
  if (!added.ok) throw validationError(added.errors)
  return added.value
}
