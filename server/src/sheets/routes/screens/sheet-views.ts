import { success } from '#contract/envelope.ts'
import { RowWindowBody, SheetTotals } from '#contract/row-edits.ts'
import { RowPage } from '#contract/rows.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import { countSettled } from '../../store/cell-totals.ts'
import { getDefinition } from '../../store/definitions.ts'
import { listMatching } from '../../store/matching-rows.ts'
import { listPage } from '../../store/rows.ts'
import { sendRowPage } from '../rows/row-pages.ts'
import { isEmptySelection, resolveSelection } from '../rows/row-selection.ts'
import { sheetOfPath, SheetParams } from '../workflows/resources.ts'

const BASE = '/workflows/:workflow_id/sheets/:sheet_id'

/** Registers the endpoints for a grid whose sheet changes: the rows in view, and the progress of each column. */
export function sheetViewRoutes(api: Api, { publicUrl }: Services): void {
  const config = { scope: 'workflows:data:read' as const, resource: sheetOfPath }

  api.post(
    `${BASE}/rows/window`,
    {
      config: { ...config, body: 'document', numberTexts: ['values'] },
      schema: { params: SheetParams, body: RowWindowBody, response: { 200: success(200, RowPage) } },
    },
    async (request, reply) => {
      const { db, sheet, body } = request
      const { offset, limit } = body
      const definition = await getDefinition(db, sheet)
      const selection = await resolveSelection(request, body, definition)
      const page = isEmptySelection(selection)
        ? await listPage(db, sheet, offset, limit)
        : await listMatching(db, sheet, selection, { offset, limit })
      return sendRowPage(request, reply, publicUrl(), {
        definition,
        page: { ...page, page_no: 1, page_size: limit },
      })
    },
  )

  api.get(
    `${BASE}/totals`,
    { config, schema: { params: SheetParams, response: { 200: success(200, SheetTotals) } } },
    async ({ db, sheet }) => {
      const { actions } = await getDefinition(db, sheet)
      return ok(
        await countSettled(
          db,
          sheet,
          actions.map(({ id }) => id),
        ),
      )
    },
  )
}
