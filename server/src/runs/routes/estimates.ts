import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { success } from '#contract/envelope.ts'
import type { FieldError } from '#contract/errors.ts'
import { Estimate, EstimateBody } from '#contract/estimates.ts'
import type { Api } from '../../api/services.ts'
import type { Definition } from '../../catalog/chain/definition.ts'
import { validationError } from '../../lib/errors.ts'
import { estimatedParts } from '../../money/estimates/estimated-parts.ts'
import { answerEstimate, type EstimateServices } from '../../money/routes/dry-runs.ts'
import { chooseRows } from '../../sheets/routes/rows/choose-rows.ts'
import { faultsInSelection } from '../../sheets/routes/rows/row-selection.ts'
import { SheetParams, sheetOfPath } from '../../sheets/routes/workflows/resources.ts'
import { getDefinition } from '../../sheets/store/definitions.ts'
import { chooseFromFailure } from '../failure-starts.ts'
import { chooseOnly, type RowChoice } from '../row-choice.ts'
import { allActions } from './runs.ts'

type Body = z.infer<typeof EstimateBody>

export function estimateRoutes(api: Api, services: EstimateServices): void {
  api.post(
    '/workflows/:workflow_id/sheets/:sheet_id/estimate',
    {
      config: {
        scope: 'workflows:run',
        body: 'document',
        resource: sheetOfPath,
        numberTexts: ['values'],
        selects: true,
        furtherErrors: faultsInNames,
      },
      schema: {
        tags: ['Runs'],
        summary: 'Estimate the cost of a run, at most and expected, without running it',
        params: SheetParams,
        body: EstimateBody,
        response: { 200: success(200, Estimate) },
      },
    },
    async (request) => {
      const { db, sheet, body } = request
      const definition = await getDefinition(db, sheet)
      const errors = await faultsInNames(request)
      if (errors.length > 0) throw validationError(errors)
      const actions = actionsOf(body, definition)
      const { exact, new_rows } = body
      const wanted = { sheet, definition, actions, exact }
      const given = { maxCredits: body.max_credits, trigger: 'api' as const }
      if (new_rows !== undefined)
        return answerEstimate(request, services, given, { ...wanted, rows: { kind: 'new', count: new_rows } })
      const chosen = await rowsOf(request, body, definition)
      const rows = body.from === 'failure' ? chooseFromFailure(chosen, actions, definition) : chosen
      const [first, ...others] = await estimatedParts(db, { ...wanted, rows })
      return answerEstimate(request, services, given, first, ...others)
    },
  )
}

/** Lists the names in a body that the sheet does not have. */
async function faultsInNames(request: FastifyRequest): Promise<FieldError[]> {
  const { action_instance_id: action }: { action_instance_id?: unknown } = Object(request.body)
  const { actions } = await getDefinition(request.db, request.sheet)
  const unknown = typeof action === 'string' && action !== '' && !actions.some(({ id }) => id === action)
  const errors = await faultsInSelection(request)
  if (!unknown) return errors
  return [...errors, { field: 'action_instance_id', message: `the sheet has no action ${action}` }]
}

function actionsOf({ action_instance_id, run_next_action }: Body, definition: Definition): string[] {
  const all = allActions(definition)
  if (action_instance_id === undefined) return all
  const from = all.indexOf(action_instance_id)
  return run_next_action ? all.slice(from) : all.slice(from, from + 1)
}

async function rowsOf(request: FastifyRequest, body: Body, definition: Definition): Promise<RowChoice> {
  const { only, action_instance_id: action } = body
  if (only !== undefined && only !== 'unfinished' && action !== undefined)
    return { kind: 'cells', rows: await chooseRows(request, body, definition), action, only }
  if (only === 'unfinished' || only === 'failed') return chooseOnly(only, allActions(definition))
  return chooseRows(request, body, definition)
}
