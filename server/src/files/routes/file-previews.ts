import { join } from 'node:path'
import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { FilePreview } from '#contract/screens.ts'
import { ok } from '../../api/http/envelope.ts'
import type { Api, Services } from '../../api/services.ts'
import { FileFault } from '../../lib/csv/file-fault.ts'
import { invalid, notFound } from '../../lib/errors.ts'
import { previewFile } from '../reading/file-preview.ts'
import { findFile, createStorageKey } from '../store/files.ts'
import { UPLOAD } from '../uploads.ts'

const Params = z.object({ file_ref: z.string() })
const Query = z.strictObject({ sheet_name: z.string().optional() })

/** Serves a preview of an uploaded file before its import. */
export function filePreviewRoutes(api: Api, { config, storage }: Services): void {
  api.get(
    '/files/:file_ref/preview',
    {
      config: { scope: 'workflows:data:write' },
      schema: { params: Params, querystring: Query, response: { 200: success(200, FilePreview) } },
    },
    async ({ db, caller, params: { file_ref }, query }) => {
      const found = await findFile(db, UPLOAD, file_ref)
      if (found === undefined || found.org_id !== caller.orgId) throw notFound('File')
      const open = async (start: number) => {
        const body = await storage.read(createStorageKey(found), { start })
        if (body === null) throw notFound('File')
        return body
      }
      try {
        const where = {
          sheetName: query.sheet_name ?? null,
          spoolFolder: join(config.LOAM_DATA_DIR, 'spool'),
        }
        return ok(await previewFile(file_ref, open, where))
      } catch (cause) {
        // A fault of the file is an error for the user who chose the file.
        if (cause instanceof FileFault) throw invalid('file_ref', cause.message)
        throw cause
      }
    },
  )
}
