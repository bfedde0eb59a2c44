import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { type ActionInstance, type Definition, findInstance } from '../../../catalog/chain/definition.ts'
import { INPUT_NODE } from '../../../catalog/chain/edit.ts'
import type { ChainView } from '../../../catalog/configuration/chain-view.ts'
import { viewChain } from '../../../catalog/configuration/chain-view.ts'
import { fieldOf } from '../../../catalog/configuration/references.ts'
import type { Field } from '../../../catalog/fields/field.ts'
import type { Catalogue } from '../../../catalog/registry.ts'
import { invalid, notFound } from '../../../lib/errors.ts'
import { listDiscoveredOutputs } from '../../store/action-outputs.ts'
import { getDefinition } from '../../store/definitions.ts'
import { sheetOfPath, SheetParams } from '../workflows/resources.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The inputs and actions of the sheet of the path. Set by `chainOfPath` and by everything that uses it. */
    definition: Definition
    /** The action of the path. Set by `actionOfPath`. */
    action: ActionInstance
  }
}

export const ActionParams = SheetParams.extend({ action_instance_id: z.string() })
export const ActionFieldParams = ActionParams.extend({ field_name: z.string() })

export async function chainOfPath(request: FastifyRequest): Promise<void> {
  await sheetOfPath(request)
  request.definition = await getDefinition(request.db, request.sheet)
}

/**
 * Resolves the action of the path. No action has the id `input` or `graph`, so these reserved ids are not found, like any
 * unknown one (D31).
 */
export async function actionOfPath(request: FastifyRequest): Promise<void> {
  await chainOfPath(request)
  const { action_instance_id } = request.params as z.infer<typeof ActionParams>
  const action = findInstance(request.definition, action_instance_id)
  if (action === undefined) throw notFound('Action')
  request.action = action
}

/** Resolves an action to delete. The input node exists, but it cannot be deleted (D31). */
export async function deletableActionOfPath(request: FastifyRequest): Promise<void> {
  const { action_instance_id } = request.params as z.infer<typeof ActionParams>
  if (action_instance_id !== INPUT_NODE) return actionOfPath(request)
  await chainOfPath(request)
  throw invalid('action_instance_id', 'the input node cannot be deleted')
}

/** Resolves a field for which `has` returns true; any other field is not found (D60). */
export function actionFieldOfPath(catalogue: Catalogue, has: (field: Field) => boolean) {
  return async (request: FastifyRequest): Promise<void> => {
    await actionOfPath(request)
    if (!has(requireField(catalogue, request))) throw notFound('Field')
  }
}

export function requireField(catalogue: Catalogue, { action, params }: FastifyRequest): Field {
  const { field_name } = params as z.infer<typeof ActionFieldParams>
  const field = fieldOf(catalogue.get(action.action_id), field_name)
  if (field === undefined) throw notFound('Field')
  return field
}

/** Reads the chain of the path with the outputs that runs have discovered. */
export async function readChain(catalogue: Catalogue, request: FastifyRequest): Promise<ChainView> {
  const discovered = await listDiscoveredOutputs(request.db, request.sheet)
  return viewChain(request.definition, catalogue, discovered)
}
