import { CheckConditionsBody, CheckedConditions } from '#contract/condition-checks.ts'
import { success } from '#contract/envelope.ts'
import { ok } from '../../api/http/envelope.ts'
import type { Api, Services } from '../../api/services.ts'
import { chainOfPath, readChain } from '../../sheets/routes/actions/action-resources.ts'
import { SheetParams } from '../../sheets/routes/workflows/resources.ts'
import { checkConditions, findConditionErrors } from '../cell-tests/condition-check.ts'

/** Registers the endpoint that counts the rows which meet a condition. */
export function conditionCheckRoutes(api: Api, { catalogue }: Pick<Services, 'catalogue'>): void {
  api.post(
    '/workflows/:workflow_id/sheets/:sheet_id/conditions/check',
    {
      config: {
        scope: 'workflows:data:read',
        body: 'document',
        numberTexts: ['values'],
        selects: true,
        resource: chainOfPath,
        furtherErrors: async (request) =>
          findConditionErrors(request.body, await readChain(catalogue, request)),
      },
      schema: {
        tags: ['Actions'],
        summary: 'Count the rows of a sample that meet a condition',
        params: SheetParams,
        body: CheckConditionsBody,
        response: { 200: success(200, CheckedConditions) },
      },
    },
    async (request) => {
      const { db, sheet, body } = request
      const chain = await readChain(catalogue, request)
      const { warnings, ...checked } = await checkConditions(
        db,
        { sheet, chain, catalogue },
        { runIf: body.run_if, rows: body.rows },
      )
      return ok(checked, warnings.length === 0 ? {} : { warnings })
    },
  )
}
