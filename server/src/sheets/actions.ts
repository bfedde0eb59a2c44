import type { z } from 'zod'
import type { AddActionBody, Configuration } from '#contract/actions.ts'
import type { Warning } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import type { ActionInstance } from '../catalog/chain/definition.ts'
import {
  addAction as insert,
  checkAfter,
  nextInstanceId,
  removeAction,
  replaceAction,
} from '../catalog/chain/edit.ts'
import { type ChainView, typesIn } from '../catalog/configuration/chain-view.ts'
import {
  configureAction as configure,
  type Configured,
  ENV_DROPPED,
} from '../catalog/configuration/configure.ts'
import { type Dependent, listDependents } from '../catalog/configuration/node.ts'
import { distinct } from '../catalog/configuration/warnings.ts'
import type { Action } from '../catalog/define.ts'
import type { Catalogue } from '../catalog/registry.ts'
import type { Db } from '../database/connection/db.ts'
import { validationError } from '../lib/errors.ts'
import { didYouMean } from '../lib/nearest-name.ts'
import { editChain, requireAction, type ChainEditing } from './chain-edit.ts'
import { type Installation, listProblems } from './configuration-environment.ts'
import { checkTargets, type Configurer } from './target-sheets.ts'

type NewAction = z.output<typeof AddActionBody>

/** An edit that configures actions, which may refer to sheets of other workflows. */
export type ActionEditing = ChainEditing & Pick<Configurer, 'mayUse'> & { installation: Installation }

/** Adds an action. If its configuration is refused, nothing is added. */
export async function addAction(
  editing: ActionEditing,
  body: NewAction,
): Promise<{ action: ActionInstance; chain: ChainView; warnings: Warning[] }> {
  return editChain(editing, async ({ trx, chain, state, view }) => {
    const { id, serials } = nextInstanceId(state.actionSerials, body.action_id)
    const prepared = prepareAction(id, body, chain, editing.catalogue)
    const made = await addTargetProblems(
      trx,
      editing,
      { template: editing.catalogue.get(body.action_id), before: {} },
      prepared,
    )
    if (made.errors.length > 0) throw validationError(made.errors)
    const action = { ...made.action, ...recordKey(editing) }
    const added = insert(chain.definition, action, body.after)
    if (!added.ok) throw validationError(added.errors)
    const next = view(added.value)
    return {
      definition: added.value,
      actionSerials: serials,
      audit: { action: 'action.added', details: { action_instance_id: id, after: body.after ?? null } },
      result: {
        action,
        chain: next,
        warnings: await listWarnings(trx, editing, made, next),
      },
    }
  })
}

/** Creates the action that a body describes, with all errors of the body. */
export function prepareAction(
  id: string,
  { action_id, after, name, ...given }: NewAction,
  chain: ChainView,
  catalogue: Catalogue,
): Configured {
  const template = catalogue.get(action_id)
  const blank = { id, action_id, display_name: name ?? template?.name ?? action_id, inputs: {}, epoch: 0 }
  const configured = configure(blank, template, given, typesIn(chain))
  const hint = () =>
    didYouMean(
      action_id,
      catalogue.list().map((each) => each.id),
    )
  const unknown: FieldError[] =
    template === undefined
      ? [{ field: 'action_id', message: `there is no action ${action_id}${hint()}` }]
      : []
  return {
    ...configured,
    errors: [
      ...unknown,
      ...checkAfter(chain.definition, after),
      ...configured.errors,
      ...refuseUnconditional(configured),
    ],
  }
}

/** Refuses a new action whose conditions were all left out: it would run on every row, which the caller did not ask for. */
function refuseUnconditional({ action, warnings }: Configured): FieldError[] {
  if (action.run_if !== undefined) return []
  const dropped = warnings.filter(({ field, code }) => code === ENV_DROPPED && field.startsWith('run_if'))
  const message =
    'conditions cannot use environment variables, and without this one the action would run on every row'
  return dropped.map(({ field }) => ({ field, message }))
}

/** Merges a configuration into an action. Returns warnings about the request and about the resulting configuration. */
export async function configureAction(
  editing: ActionEditing,
  id: string,
  given: Configuration,
): Promise<Warning[]> {
  return editChain(editing, async ({ trx, chain, view }) => {
    const action = requireAction(chain, id)
    const template = chain.links.get(id)?.template
    const configured = configure(action, template, given, typesIn(chain))
    const made = await addTargetProblems(trx, editing, { template, before: action.inputs }, configured)
    if (made.errors.length > 0) throw validationError(made.errors)
    const saved = given.inputs === undefined ? made.action : { ...made.action, ...recordKey(editing) }
    const definition = replaceAction(chain.definition, saved)
    return {
      definition,
      // The audit holds only names of fields, because values may hold secrets.
      audit: {
        action: 'action.configured',
        details: {
          action_instance_id: id,
          fields: Object.keys(given),
          inputs: Object.keys(given.inputs ?? {}),
        },
      },
      result: await listWarnings(trx, editing, made, view(definition)),
    }
  })
}

/**
 * Returns the key that saves the inputs of an action. Its holder is responsible for the sheets that the action's tokens
 * resolve to (D36).
 */
function recordKey({ author: { keyId } }: ActionEditing): Pick<ActionInstance, 'configured_with'> {
  return keyId === null ? {} : { configured_with: keyId }
}

/** Adds the errors and warnings about the sheets that the action refers to. */
export async function addTargetProblems(
  db: Db,
  { author, mayUse }: Pick<ActionEditing, 'author' | 'mayUse'>,
  { template, before }: { template: Action | undefined; before: ActionInstance['inputs'] },
  made: Configured,
): Promise<Configured> {
  const inputs = { before, after: made.action.inputs }
  const { errors, warnings } = await checkTargets(db, { ...author, mayUse }, template, inputs)
  return { ...made, errors: [...made.errors, ...errors], warnings: [...made.warnings, ...warnings] }
}

async function listWarnings(
  db: Db,
  { sheet, installation }: ActionEditing,
  { action, warnings }: Configured,
  chain: ChainView,
): Promise<Warning[]> {
  return distinct([...warnings, ...(await listProblems(db, sheet, { action, chain }, installation))])
}

/**
 * Deletes an action and returns the actions that referred to its outputs. They keep their references, which are now unknown.
 */
export async function deleteAction(editing: ChainEditing, id: string): Promise<Dependent[]> {
  return editChain(editing, ({ chain }) => {
    const { action_id } = requireAction(chain, id)
    const definition = removeAction(chain.definition, id)
    return {
      definition,
      audit: { action: 'action.deleted', details: { action_instance_id: id, action_id } },
      result: listDependents(id, definition, editing.catalogue),
    }
  })
}
