import type { Warning } from '#contract/envelope.ts'
import type { ActionInstance } from '../catalog/chain/definition.ts'
import { moveAction as move, replaceAction } from '../catalog/chain/edit.ts'
import type { WaterfallOffer } from '../catalog/fields/field.ts'
import {
  asSteps,
  readGivenSteps,
  reorderSteps,
  type ShownStep,
  showSteps,
} from '../catalog/fields/waterfall-field.ts'
import { validationError } from '../lib/errors.ts'
import { editChain, requireAction, type ChainEditing } from './chain-edit.ts'

/** Changes the display name or the note of an action. Neither changes what the action does. */
export async function labelAction(
  editing: ChainEditing,
  id: string,
  label: Pick<ActionInstance, 'display_name'> | { note: string },
): Promise<void> {
  await editChain(editing, ({ chain }) => ({
    definition: replaceAction(chain.definition, { ...requireAction(chain, id), ...label }),
    audit: {
      action: 'note' in label ? 'action.noted' : 'action.renamed',
      details: { action_instance_id: id, ...label },
    },
    result: undefined,
  }))
}

/** Moves an action and returns the id of the action that is now before it. */
export async function moveAction(
  editing: ChainEditing,
  id: string,
  after: string | undefined,
): Promise<string> {
  return editChain(editing, ({ chain }) => {
    requireAction(chain, id)
    const moved = move(chain.definition, id, after)
    if (!moved.ok) throw validationError(moved.errors)
    const { definition, after: predecessor } = moved.value
    return {
      definition,
      audit: { action: 'action.moved', details: { action_instance_id: id, after: predecessor } },
      result: predecessor,
    }
  })
}

/** Reorders the providers of a waterfall and returns them in their public form. */
export async function reorderWaterfall(
  editing: ChainEditing,
  id: string,
  field: { name: string } & Pick<WaterfallOffer, 'providers' | 'usual'>,
  given: unknown[],
): Promise<{ providers: ShownStep[]; warnings: Warning[] }> {
  return editChain(editing, ({ chain }) => {
    const action = requireAction(chain, id)
    const { steps, warnings, errors } = reorderSteps(
      readGivenSteps(given, 'providers').steps,
      'providers',
      Object.hasOwn(action.inputs, field.name) ? asSteps(action.inputs[field.name]) : [...field.usual],
      field.providers,
    )
    if (errors.length > 0) throw validationError(errors)
    const inputs = { ...action.inputs, [field.name]: steps }
    return {
      definition: replaceAction(chain.definition, { ...action, inputs }),
      audit: {
        action: 'action.waterfall_reordered',
        details: {
          action_instance_id: id,
          field: field.name,
          providers: steps.map(({ provider }) => provider),
        },
      },
      result: { providers: showSteps(steps, field.providers), warnings },
    }
  })
}
