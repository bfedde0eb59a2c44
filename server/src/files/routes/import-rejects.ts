import { success } from '#contract/envelope.ts'
import { ImportRejects } from '#contract/screens.ts'
import { ok } from '../../api/http/envelope.ts'
import type { Api, Services } from '../../api/services.ts'
import { FileFault } from '../../lib/csv/file-fault.ts'
import { notFound } from '../../lib/errors.ts'
import { sheetOfPath, SheetParams } from '../../sheets/routes/workflows/resources.ts'
import { listRejects } from '../imports/import-rejects.ts'
import { findImportedFile } from '../store/imports.ts'

const MAX_REJECTS = 1000

/** Lists the values of the latest import that do not fit their inputs. The status of an import only counts them. */
export function importRejectRoutes(api: Api, services: Services): void {
  api.get(
    '/workflows/:workflow_id/sheets/:sheet_id/import/rejects',
    {
      config: { scope: 'workflows:data:read', resource: sheetOfPath },
      schema: { params: SheetParams, response: { 200: success(200, ImportRejects) } },
    },
    async ({ db, sheet }) => {
      const file = await findImportedFile(db, sheet)
      if (file === undefined) throw notFound('Import')
      try {
        return ok(await listRejects(services, file, MAX_REJECTS))
      } catch (cause) {
        // Uploads are removed some days after their last use.
        if (cause instanceof FileFault) throw notFound('File')
        throw cause
      }
    },
  )
}
