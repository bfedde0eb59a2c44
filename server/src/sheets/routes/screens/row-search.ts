import { success } from '#contract/envelope.ts'
import {
  FindRowsBody,
  FoundRows,
  NextFailed,
  NextFailedBody,
  RowPlace,
  RowPlaceBody,
} from '#contract/row-search.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api } from '../../../api/services.ts'
import { getDefinition } from '../../store/definitions.ts'
import { findNextFailed, findRows, findMatchingPlace, findRowPlace } from '../../store/row-search.ts'
import { isEmptySelection, resolveSelection } from '../rows/row-selection.ts'
import { sheetOfPath, SheetParams } from '../workflows/resources.ts'

const BASE = '/workflows/:workflow_id/sheets/:sheet_id/rows'

/** Registers the endpoints that find rows in a sheet too long to look through by eye. */
export function rowSearchRoutes(api: Api): void {
  const config = {
    scope: 'workflows:data:read' as const,
    resource: sheetOfPath,
    body: 'document' as const,
    numberTexts: ['values'],
  }

  api.post(
    `${BASE}/place`,
    {
      config,
      schema: { params: SheetParams, body: RowPlaceBody, response: { 200: success(200, RowPlace) } },
    },
    async (request) => {
      const { db, sheet, body } = request
      const { row_id, ...chosen } = body
      const selection = await resolveSelection(request, chosen, await getDefinition(db, sheet))
      const place = isEmptySelection(selection)
        ? await findRowPlace(db, sheet, row_id)
        : await findMatchingPlace(db, sheet, selection, row_id)
      return ok({ place })
    },
  )

  api.post(
    `${BASE}/next-failed`,
    {
      config,
      schema: { params: SheetParams, body: NextFailedBody, response: { 200: success(200, NextFailed) } },
    },
    async (request) => {
      const { db, sheet, body } = request
      const { after, ...chosen } = body
      const definition = await getDefinition(db, sheet)
      const selection = await resolveSelection(request, chosen, definition)
      const actions = definition.actions.map(({ id }) => id)
      return ok(await findNextFailed(db, sheet, selection, { actions, after }))
    },
  )

  api.post(
    `${BASE}/find`,
    {
      config,
      schema: { params: SheetParams, body: FindRowsBody, response: { 200: success(200, FoundRows) } },
    },
    async (request) => {
      const { db, sheet, body } = request
      const { from, find, ...chosen } = body
      const selection = await resolveSelection(request, chosen, await getDefinition(db, sheet))
      return ok(await findRows(db, sheet, selection, { text: find, from }))
    },
  )
}
