import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { Estimate, EstimateBody } from '#contract/estimates.ts'
import type { Definition } from '../../../chain/definition.ts'
import type { EstimateRequest } from '../../../estimates/estimate.ts'
import { invalid } from '../../../lib/errors.ts'
import { chooseOnly } from '../../../runs/row-choice.ts'
import { getDefinition } from '../../../store/sheets/definitions.ts'
import type { Api } from '../../services.ts'
import { chooseRows } from '../rows/choose-rows.ts'
import { SheetParams, sheetOfPath } from '../workflows/resources.ts'
import { answerEstimate, type EstimateServices } from './dry-runs.ts'
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
      },
      schema: {
        tags: ['Runs'],
        summary: 'What a run would cost: at most, and as expected; nothing is run',
        params: SheetParams,
        body: EstimateBody,
        response: { 200: success(200, Estimate) },
      },
    },
    async (request) => {
      const { db, sheet, body } = request
      const definition = await getDefinition(db, sheet)
      const wanted: EstimateRequest = {
        sheet,
        definition,
        actions: actionsOf(body, definition),
        rows: await rowsOf(request, body, definition),
        exact: body.exact,
      }
      return answerEstimate(request, services, { maxCredits: body.max_credits, trigger: 'api' }, wanted)
    },
  )
}

function actionsOf({ action_instance_id, run_next_action }: Body, definition: Definition): string[] {
  const all = allActions(definition)
  if (action_instance_id === undefined) return all
  const from = all.indexOf(action_instance_id)
  if (from < 0) throw invalid('action_instance_id', `the sheet has no action ${action_instance_id}`)
  return run_next_action ? all.slice(from) : all.slice(from, from + 1)
}

async function rowsOf(
  request: FastifyRequest,
  body: Body,
  definition: Definition,
): Promise<EstimateRequest['rows']> {
  if (body.new_rows !== undefined) return { kind: 'new', count: body.new_rows }
  if (body.only !== undefined) return chooseOnly(body.only, allActions(definition))
  return chooseRows(request, body, definition)
}
