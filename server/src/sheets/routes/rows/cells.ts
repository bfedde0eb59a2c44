import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { success, Uuid } from '#contract/envelope.ts'
import type { Cell, CellStatus } from '#contract/rows.ts'
import { CellDetail, RestoreCellBody } from '#contract/runs.ts'
import { ok } from '../../../api/http/envelope.ts'
import { API_PREFIX } from '../../../api/http/openapi.ts'
import type { Api, Services } from '../../../api/services.ts'
import { inTransaction } from '../../../database/connection/db.ts'
import { AppError, notFound } from '../../../lib/errors.ts'
import { parseLossless } from '../../../lib/json/lossless-json.ts'
import { withoutBlanksInSteps } from '../../../lib/json/without-blanks.ts'
import { inTurns } from '../../../lib/timing/turns.ts'
import { MILLIS } from '../../../money/store/credits.ts'
import { postCharges } from '../../../money/store/limits/posting.ts'
import { recordAudit } from '../../../organisation/store/audit.ts'
import { findFormer, type FormerCell, restoreFormer } from '../../../runs/store/former-cells.ts'
import { type CellRecord, findCell, findWaiting } from '../../../runs/store/runs.ts'
import { type CellText, listCells, type OutputsUrl, readCellOutputs, viewOutputs } from '../../store/cells.ts'
import { findRowIds } from '../../store/rows.ts'
import type { SheetRecord } from '../../store/sheets.ts'
import { SheetParams, sheetOfPath } from '../workflows/resources.ts'
import { viewBilling } from './cell-billing.ts'

const BASE = '/workflows/:workflow_id/sheets/:sheet_id/rows/:row_id'
const config = { scope: 'workflows:data:read' as const, resource: sheetOfPath }
const CellParams = SheetParams.extend({ row_id: Uuid, action_instance_id: z.string() })

/** Returns the URL of outputs that are too large for their cell. Reading it needs the key (D44). */
export function outputsUrl(
  publicUrl: string,
  { workflow_id, sheet_id }: Pick<SheetRecord, 'workflow_id' | 'sheet_id'>,
): OutputsUrl {
  const rows = `${publicUrl}${API_PREFIX}/workflows/${workflow_id}/sheets/${sheet_id}/rows`
  return (rowId, action) => `${rows}/${rowId}/cells/${encodeURIComponent(action)}/outputs`
}

export function cellRoutes(api: Api, services: Services): void {
  defineGet(api, services)
  defineRestore(api, services)
  defineOutputs(api)
  definePreviousOutputs(api)
}

function defineGet(api: Api, { publicUrl }: Services): void {
  api.get(
    `${BASE}/cells/:action_instance_id`,
    {
      config,
      schema: {
        tags: ['Rows'],
        summary: 'Get a cell with its provenance',
        params: CellParams,
        response: { 200: success(200, CellDetail) },
      },
    },
    async (request) => {
      await requireRow(request, request.params.row_id)
      return ok(await readDetail(request, request.params, publicUrl()))
    },
  )
}

function defineRestore(api: Api, { publicUrl }: Services): void {
  api.post(
    `${BASE}/cells/:action_instance_id/restore`,
    {
      config: { scope: 'workflows:data:write', body: 'control', exact: true, resource: sheetOfPath },
      schema: {
        tags: ['Rows'],
        summary: 'Restore the result that a cell had before a failed run',
        params: CellParams,
        body: RestoreCellBody,
        response: { 200: success(200, CellDetail) },
      },
    },
    async (request) => {
      const { db, sheet, caller, params } = request
      const { row_id, action_instance_id } = params
      await requireRow(request, row_id)
      await inTransaction(db, async (trx) => {
        if (!(await restoreFormer(trx, sheet, row_id, action_instance_id))) throw nothingToRestore()
        const details = { row_id, action_instance_id }
        await recordAudit(trx, sheet.org_id, caller, {
          action: 'cell.restored',
          target: sheet.sheet_id,
          details,
        })
      })
      return ok(await readDetail(request, params, publicUrl()))
    },
  )
}

function defineOutputs(api: Api): void {
  api.get(
    `${BASE}/cells/:action_instance_id/outputs`,
    {
      config,
      schema: {
        tags: ['Rows'],
        summary: 'Get the outputs of a cell, of any size',
        params: CellParams,
        response: { 200: z.unknown().describe('The outputs themselves, without envelope') },
      },
    },
    async (request, reply) => {
      const { row_id, action_instance_id } = request.params
      await requireRow(request, row_id)
      const text = await readCellOutputs(request.db, request.sheet.org_id, row_id, action_instance_id)
      if (text === undefined) throw notFound('Outputs of this cell')
      return reply.type('application/json; charset=utf-8').send(Buffer.from(text))
    },
  )
}

function definePreviousOutputs(api: Api): void {
  api.get(
    `${BASE}/cells/:action_instance_id/outputs/previous`,
    {
      config,
      schema: {
        tags: ['Rows'],
        summary: 'Get the outputs that a failed cell had before, of any size',
        params: CellParams,
        response: { 200: z.unknown().describe('The outputs themselves, without envelope') },
      },
    },
    async (request, reply) => {
      const { row_id, action_instance_id } = request.params
      await requireRow(request, row_id)
      const former = await findFormer(request.db, request.sheet.org_id, row_id, action_instance_id)
      if (former === undefined || former.outputs === null) throw notFound('Previous outputs of this cell')
      const text = await inTurns(withoutBlanksInSteps(former.outputs))
      return reply.type('application/json; charset=utf-8').send(Buffer.from(text))
    },
  )
}

const nothingToRestore = () =>
  new AppError(
    'NOTHING_TO_RESTORE',
    'The cell has nothing to restore: only a failed cell that is not running keeps its former result, for 7 days',
  )

type CellPlace = { row_id: string; action_instance_id: string }

/** Returns a cell with its provenance and its former result. */
export async function readDetail(
  { db, sheet }: Pick<FastifyRequest, 'db' | 'sheet'>,
  { row_id, action_instance_id }: CellPlace,
  publicUrl: string,
) {
  const urlOf = outputsUrl(publicUrl, sheet)
  const cells = await listCells(db, sheet.org_id, [row_id], urlOf)
  const cell = cells.get(row_id)?.byAction[action_instance_id]
  if (cell === undefined) throw notFound('Cell')
  await postCharges(db, sheet.org_id)
  const stored = await findCell(db, sheet.org_id, row_id, action_instance_id)
  return viewDetail({ db, sheet }, { row_id, action_instance_id }, { cell, stored, urlOf })
}

/** A cell as it is listed, and its result. */
type ReadCell = { cell: CellText; stored: CellRecord | undefined; urlOf: OutputsUrl }

/** Returns a cell with its provenance and its former result, after it was read. */
export async function viewDetail(
  { db, sheet }: Pick<FastifyRequest, 'db' | 'sheet'>,
  { row_id, action_instance_id }: CellPlace,
  { cell, stored, urlOf }: ReadCell,
) {
  const former = !FAILED.has(cell.status)
    ? undefined
    : await findFormer(db, sheet.org_id, row_id, action_instance_id)
  const previousUrl = () => `${urlOf(row_id, action_instance_id)}/previous`
  return {
    row_id,
    action_instance_id,
    ...(parseLossless(cell.json) as Cell),
    ...(isInFlight(cell.status) ? {} : viewProvenance(stored)),
    ...(cell.status === 'queued' ? { waiting: await findWaiting(db, sheet.org_id, row_id) } : {}),
    ...(former === undefined ? {} : { previous: await viewFormer(former, previousUrl) }),
  }
}

/** The statuses of cells without a result of their own, which may have a former one. */
const FAILED: ReadonlySet<CellStatus> = new Set(['failed', 'error', 'out_of_credits'])

const isInFlight = (status: CellStatus): boolean => status === 'queued' || status === 'running'

async function viewFormer({ run_id, outputs, completed_at, credits_millis }: FormerCell, url: () => string) {
  return {
    status: 'complete' as const,
    ...(outputs === null ? {} : (parseLossless(`{${await viewOutputs(outputs, url)}}`) as object)),
    run_id,
    completed_at: completed_at.toISOString(),
    credits: credits_millis / MILLIS,
  }
}

async function requireRow({ db, sheet }: FastifyRequest, rowId: string): Promise<void> {
  const known = await findRowIds(db, sheet, [rowId])
  if (known.size === 0) throw notFound('Row')
}

function viewProvenance(cell: CellRecord | undefined) {
  if (cell === undefined) return {}
  return {
    status: cell.status,
    provenance: {
      run_id: cell.run_id,
      revision: cell.revision,
      attempts: cell.attempts,
      duration_ms: Math.max(0, cell.completed_at.getTime() - cell.started_at.getTime()),
      credits: cell.credits_millis / MILLIS,
      cache_hit: cell.cached,
      started_at: cell.started_at.toISOString(),
      completed_at: cell.completed_at.toISOString(),
      providers: cell.provenance ?? [],
    },
    billing: viewBilling(cell),
  }
}
