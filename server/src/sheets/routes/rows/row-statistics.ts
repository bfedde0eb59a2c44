import { success } from '#contract/envelope.ts'
import { RowStatistics, RowStatisticsBody } from '#contract/row-statistics.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import { validationError } from '../../../lib/errors.ts'
import { computeStatistics } from '../../rows/statistics.ts'
import { getDefinition } from '../../store/definitions.ts'
import { SheetParams, sheetOfPath } from '../workflows/resources.ts'
import { analyseRows } from './analyse-rows.ts'
import { faultsInSelection, findColumns, isEmptySelection, resolveSelection } from './row-selection.ts'

/** Registers the endpoint for the statistics of columns (G6). */
export function rowStatisticsRoutes(api: Api, services: Services): void {
  api.post(
    '/workflows/:workflow_id/sheets/:sheet_id/rows/statistics',
    {
      config: {
        scope: 'workflows:data:read',
        body: 'document',
        resource: sheetOfPath,
        numberTexts: ['values'],
        furtherErrors: faultsInSelection,
      },
      schema: {
        tags: ['Rows'],
        summary: 'Get statistics of columns',
        params: SheetParams,
        body: RowStatisticsBody,
        response: { 200: success(200, RowStatistics) },
      },
    },
    async (request, reply) => {
      const { db, body, sheet } = request
      const errors = await faultsInSelection(request)
      if (errors.length > 0) throw validationError(errors)
      const definition = await getDefinition(db, sheet)
      const chosen = await resolveSelection(request, body, definition)
      const selection = isEmptySelection(chosen) ? null : chosen
      const wanted = { sheet, selection, columns: await findColumns(request, body.columns, definition) }
      return ok(
        await analyseRows(request, reply, services, { read: (run) => computeStatistics(wanted, run) }),
      )
    },
  )
}
