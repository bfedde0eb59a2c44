import { Causes, CausesQuery } from '#contract/causes.ts'
import { success } from '#contract/envelope.ts'
import { ok } from '../../api/http/envelope.ts'
import type { Api } from '../../api/services.ts'
import { notFound } from '../../lib/errors.ts'
import { sheetOfPath, SheetParams } from '../../sheets/routes/workflows/resources.ts'
import { listCauses } from '../store/causes.ts'
import { listRuns } from '../store/runs.ts'

/** Adds the endpoint that lists why cells failed (H11). */
export function causeRoutes(api: Api): void {
  api.get(
    '/workflows/:workflow_id/sheets/:sheet_id/causes',
    {
      config: { scope: 'workflows:data:read', resource: sheetOfPath },
      schema: {
        tags: ['Runs'],
        summary: 'List the causes of failed cells, largest first',
        params: SheetParams,
        querystring: CausesQuery,
        response: { 200: success(200, Causes) },
      },
    },
    async ({ db, sheet, query: { run_id: runId, limit } }) => {
      if (runId !== undefined && (await listRuns(db, sheet, { limit: 1, runId })).length === 0)
        throw notFound('Run')
      return ok(await listCauses(db, sheet, { runId, limit }))
    },
  )
}
