import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { success, Uuid } from '#contract/envelope.ts'
import { GetRowQuery, RowDetail, RowHistory, RowHistoryQuery } from '#contract/row-history.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import type { Definition } from '../../../catalog/chain/definition.ts'
import { invalid, notFound } from '../../../lib/errors.ts'
import { parseLossless } from '../../../lib/json/lossless-json.ts'
import { MILLIS } from '../../../money/store/credits.ts'
import { findCells } from '../../../runs/store/runs.ts'
import { createRowWriter } from '../../rows/view.ts'
import { listCells } from '../../store/cells.ts'
import { getDefinition } from '../../store/definitions.ts'
import { type HistoryEntry, type HistoryPlace, listHistory } from '../../store/row-history.ts'
import { findMatchingNeighbours, findNeighbours, findOrderedNeighbours } from '../../store/row-neighbours.ts'
import { useOrder } from '../../store/row-orders.ts'
import { listByIds } from '../../store/rows.ts'
import { SheetParams, sheetOfPath } from '../workflows/resources.ts'
import { analyseRows, MAX_ANALYSIS_MS } from './analyse-rows.ts'
import { outputsUrl, viewDetail } from './cells.ts'
import { resolveRows } from './row-selection.ts'

const BASE = '/workflows/:workflow_id/sheets/:sheet_id/rows/:row_id'
const config = { scope: 'workflows:data:read' as const, resource: sheetOfPath }
const RowParams = SheetParams.extend({ row_id: Uuid })

/** Registers the endpoints of one row with all that is known about it (G8). */
export function rowDetailRoutes(api: Api, services: Services): void {
  api.get(
    BASE,
    {
      config,
      schema: {
        tags: ['Rows'],
        summary: 'Get a row with its cells and neighbours',
        params: RowParams,
        querystring: GetRowQuery,
        response: { 200: success(200, RowDetail) },
      },
    },
    async (request, reply) => {
      const { db, sheet, params, query } = request
      const { row_id } = params
      const { order_id, view_id } = query
      if (order_id !== undefined) await useOrder(db, sheet, order_id)
      const row = await readRow(request, row_id, services.publicUrl())
      if (order_id !== undefined)
        return ok({ ...row, ...(await findOrderedNeighbours(db, sheet, row_id, order_id)) })
      if (view_id === undefined) return ok({ ...row, ...(await findNeighbours(db, sheet, row_id)) })
      const rows = await resolveRows(request, { view_id }, await getDefinition(db, sheet))
      const neighbours = await analyseRows(request, reply, services, {
        read: (run) => run(MAX_ANALYSIS_MS, ({ trx }) => findMatchingNeighbours(trx, sheet, rows, row_id)),
        field: 'view_id',
      })
      return ok({ ...row, ...neighbours })
    },
  )

  api.get(
    `${BASE}/history`,
    {
      config,
      schema: {
        tags: ['Rows'],
        summary: 'List what happened to a row, newest first',
        params: RowParams,
        querystring: RowHistoryQuery,
        response: { 200: success(200, RowHistory) },
      },
    },
    async ({ db, sheet, params, query }) => {
      const { limit, cursor } = query
      const after = cursor === undefined ? undefined : readCursor(cursor)
      const found = await listHistory(db, sheet, params.row_id, { limit: limit + 1, after })
      if (found === undefined) throw notFound('Row')
      const definition = await getDefinition(db, sheet)
      const last = found.length > limit ? found[limit - 1] : undefined
      return ok({
        entries: found.slice(0, limit).map((entry) => viewEntry(entry, definition)),
        next_cursor: last === undefined ? null : printCursor(last),
      })
    },
  )
}

/** Reads a row as List Rows has it, with its cells as Get Cell has them. */
async function readRow(
  { db, sheet }: Pick<FastifyRequest, 'db' | 'sheet'>,
  rowId: string,
  publicUrl: string,
) {
  const [row] = (await listByIds(db, sheet, [rowId], { offset: 0, limit: 1 })).rows
  if (row === undefined) throw notFound('Row')
  const { row_id } = row
  const definition = await getDefinition(db, sheet)
  const urlOf = outputsUrl(publicUrl, sheet)
  const read = (await listCells(db, sheet.org_id, [row_id], urlOf)).get(row_id)
  const actions = definition.actions.map(({ id }) => id)
  const results = await findCells(db, sheet.org_id, row_id, actions)
  const cells: Record<string, Awaited<ReturnType<typeof viewDetail>>> = {}
  for (const action_instance_id of actions) {
    const cell = read?.byAction[action_instance_id]
    if (cell === undefined) continue
    const stored = results.get(action_instance_id)
    cells[action_instance_id] = await viewDetail(
      { db, sheet },
      { row_id, action_instance_id },
      { cell, stored, urlOf },
    )
  }
  const view = parseLossless(createRowWriter(definition)(row, read)) as z.infer<typeof RowDetail>
  return { ...view, cells }
}

function viewEntry(
  { at, kind, by, run_id, credits_millis, changes }: HistoryEntry,
  { inputs }: Definition,
): z.infer<typeof RowHistory>['entries'][number] {
  const names = new Map(inputs.map(({ column, name }) => [column, name]))
  return {
    at: new Date(at / 1000).toISOString(),
    kind,
    by,
    ...(run_id === null ? {} : { run_id }),
    ...(credits_millis === null ? {} : { credits: credits_millis / MILLIS }),
    ...(changes === null
      ? {}
      : {
          changes: changes.map(([column, before, after]) => ({
            input: names.get(column) ?? null,
            before,
            after,
          })),
        }),
  }
}

const CURSOR = /^(\d{1,17})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

const printCursor = ({ at, id }: HistoryPlace): string => `${at}.${id}`

function readCursor(text: string): HistoryPlace {
  const [, at, id] = CURSOR.exec(text) ?? []
  if (at === undefined || id === undefined)
    throw invalid('cursor', 'must be the `next_cursor` of the previous page')
  return { at: Number(at), id }
}
