import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { EXPORT_EXTRAS, Export, EXPORT_LINK_MINUTES, ExportBody } from '#contract/exports.ts'
import { accepted, ok } from '../../api/http/envelope.ts'
import type { Api, Services } from '../../api/services.ts'
import { notFound } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import type { LinkSigner } from '../../lib/security/signed-links.ts'
import { faultsInSelection, resolveRows } from '../../sheets/routes/rows/row-selection.ts'
import { SheetParams, sheetOfPath } from '../../sheets/routes/workflows/resources.ts'
import { getDefinition } from '../../sheets/store/definitions.ts'
import { safeFileName } from '../exports/export-name.ts'
import { startExport } from '../exports/start-export.ts'
import { type ExportRecord, findExport } from '../store/exports.ts'
import { exportLinks } from './export-files.ts'

const BASE = '/workflows/:workflow_id/sheets/:sheet_id/export'
/** The id is not checked as a UUID: a malformed id is an export that does not exist (D43). */
const ExportParams = SheetParams.extend({ export_id: z.string() })

export function exportRoutes(api: Api, { catalogue, config, sealer, publicUrl }: Services): void {
  const links = exportLinks(sealer)

  api.post(
    BASE,
    {
      config: {
        scope: 'workflows:data:read',
        body: 'document',
        numberTexts: ['values'],
        resource: sheetOfPath,
        furtherErrors: faultsInSelection,
        selects: true,
      },
      schema: {
        tags: ['Exports'],
        summary: 'Export a sheet',
        params: SheetParams,
        body: ExportBody,
        response: { 202: success(202, Export) },
      },
    },
    async (request) => {
      const { db, caller, sheet, body } = request
      const definition = await getDefinition(db, sheet)
      const { row_ids, exclude_row_ids } = body
      const rows = await resolveRows(request, body, definition)
      const { sort, view } = rows
      const selection = {
        ...rows.selection,
        ...(row_ids === undefined ? {} : { rowIds: row_ids }),
        ...(exclude_row_ids === undefined ? {} : { excludeRowIds: exclude_row_ids }),
      }
      const file_name = safeFileName(body.file_name)
      const { format, bom = false } = body
      const include = EXPORT_EXTRAS.filter((extra) => body.include?.includes(extra))
      const wanted = { sheet, definition, selection, format, file_name, include, bom, sort, view }
      const made = await startExport(db, caller, { catalogue, limit: config.LOAM_EXPORTS_PER_ORG }, wanted)
      return accepted(viewExport(made, links, publicUrl()))
    },
  )

  api.get(
    `${BASE}/:export_id`,
    {
      config: { scope: 'workflows:read', resource: sheetOfPath },
      schema: {
        tags: ['Exports'],
        summary: 'Get an export',
        params: ExportParams,
        response: { 200: success(200, Export) },
      },
    },
    async ({ db, caller, sheet, params: { export_id } }) => {
      const { org_id, sheet_id } = sheet
      const found = isUuid(export_id)
        ? await findExport(db, { org_id, sheet_id, export_id, member_id: caller.memberId })
        : undefined
      if (found === undefined) throw notFound('Export')
      return ok(viewExport(found, links, publicUrl()))
    },
  )
}

function viewExport(record: ExportRecord, links: LinkSigner, publicUrl: string): z.infer<typeof Export> {
  const { export_id, status, progress, row_count, error, started_at, completed_at } = record
  return {
    export_id,
    status,
    progress,
    row_count,
    ...(status === 'completed' ? linkTo(record, links, publicUrl) : {}),
    ...(error === null ? {} : { error }),
    started_at: started_at.toISOString(),
    completed_at: completed_at?.toISOString() ?? null,
  }
}

function linkTo({ org_id, export_id }: ExportRecord, links: LinkSigner, publicUrl: string) {
  const expiresAt = new Date(Date.now() + EXPORT_LINK_MINUTES * 60_000)
  const token = links.sign({ orgId: org_id, fileId: export_id, expiresAt })
  return { file_url: `${publicUrl}/files/${token}`, expires_at: expiresAt.toISOString() }
}
