import { z } from 'zod'
import { success, Uuid } from '#contract/envelope.ts'
import { FailureCause } from '#contract/screens.ts'
import { ok } from '../../api/http/envelope.ts'
import type { Api } from '../../api/services.ts'
import { sheetOfPath, SheetParams } from '../../sheets/routes/workflows/resources.ts'
import { listFailureCauses } from '../store/failure-causes.ts'

const MAX_CAUSES = 50

/**
 * Adds the endpoint that lists why cells of a run failed. Cells that were run again since belong to their later run.
 */
export function runFailureRoutes(api: Api): void {
  api.get(
    '/workflows/:workflow_id/sheets/:sheet_id/runs/:run_id/failures',
    {
      config: { scope: 'workflows:data:read', resource: sheetOfPath },
      schema: {
        params: SheetParams.extend({ run_id: Uuid }),
        response: { 200: success(200, z.array(FailureCause)) },
      },
    },
    async ({ db, sheet, params }) => ok(await listFailureCauses(db, sheet, params.run_id, MAX_CAUSES)),
  )
}
