import type { FastifyRequest } from 'fastify'
import { success, successWithWarnings } from '#contract/envelope.ts'
import { DeleteAllBody, DeleteRowsBody } from '#contract/row-selectors.ts'
import {
  AddedRows,
  AddRowsBody,
  DEFAULT_PAGE_SIZE,
  DeletedCount,
  DeletedRows,
  ListRowsBody,
  MAX_PAGE_SIZE,
  type RejectedRow,
  RowPage,
} from '#contract/rows.ts'
import { watchDisconnect } from '../../../api/http/disconnect.ts'
import { created, nameRun, ok } from '../../../api/http/envelope.ts'
import type { RouteServices } from '../../../api/http/event-streams.ts'
import type { Api } from '../../../api/services.ts'
import { type Db, inTransaction } from '../../../database/connection/db.ts'
import { AppError } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import { toCap } from '../../../money/caps.ts'
import { answerDryRun, DRY_RUN_ANSWER } from '../../../money/routes/dry-runs.ts'
import { recordAudit } from '../../../organisation/store/audit.ts'
import { arriveRows, countRunning, warnOfNoActions } from '../../../runs/arrivals.ts'
import { deleteChosen } from '../../../runs/row-choice.ts'
import { fitRejected, parseRows } from '../../rows/intake.ts'
import { getDefinition } from '../../store/definitions.ts'
import { deleteRows, listByIds } from '../../store/rows.ts'
import { SheetParams, sheetOfPath } from '../workflows/resources.ts'
import { chooseRows, type SelectorsBody } from './choose-rows.ts'
import { readPage } from './read-page.ts'
import { sendRowPage } from './row-pages.ts'
import { faultsInSelection } from './row-selection.ts'
import { writeShown } from './shown-values.ts'

const BASE = '/workflows/:workflow_id/sheets/:sheet_id/rows'

export function rowRoutes(api: Api, services: RouteServices): void {
  defineAdd(api, services)
  defineList(api, services)
  defineDelete(api)
  defineDeleteAll(api)
}

function defineAdd(api: Api, services: RouteServices): void {
  api.post(
    BASE,
    {
      config: {
        scope: 'workflows:data:write',
        body: 'rows',
        resource: sheetOfPath,
        numberTexts: ['rows'],
        spends: true,
      },
      schema: {
        tags: ['Rows'],
        summary: 'Add rows',
        params: SheetParams,
        body: AddRowsBody,
        response: { 200: DRY_RUN_ANSWER, 201: successWithWarnings(201, AddedRows) },
      },
    },
    async (request, reply) => {
      const { db, sheet, body, caller } = request
      if (body.run_after_add !== 'none' && !caller.scopes.has('workflows:run')) {
        throw new AppError(
          'INSUFFICIENT_SCOPE',
          'This key lacks the scope workflows:run, which run_after_add needs',
        )
      }
      const definition = await getDefinition(db, sheet)
      const { accepted, rejected, warnings } = await parseRows(definition.inputs, body.rows)
      warnings.push(...warnOfNoActions('run_after_add', body.run_after_add, definition))
      if (body.dry_run === true) {
        request.warnings.push(...warnings, ...fitRejected(rejected).flatMap(warnOfRejected))
        const count = countRunning(sheet, body.run_after_add, { rows: accepted.length })
        const data = accepted.slice(0, count).map((row) => row.data)
        const trigger = body.run_after_add === 'none' ? 'auto_run' : 'api'
        return answerDryRun(
          request,
          services,
          { maxCredits: body.max_credits, trigger },
          {
            sheet,
            definition,
            actions: definition.actions.map(({ id }) => id),
            rows: { kind: 'given', data },
            exact: false,
          },
        )
      }
      const { rowIds, queued, runId } = await arriveRows(db, {
        sheet,
        data: accepted.map((row) => row.data),
        actor: caller,
        trigger: 'api',
        run: body.run_after_add,
        ...toCap(body.max_credits),
      })
      nameRun(reply, runId)
      return created(
        {
          row_count: rowIds.length,
          row_ids: rowIds,
          rejected: fitRejected(rejected),
          rows_queued_for_run: queued,
        },
        { warnings },
      )
    },
  )
}

function defineList(api: Api, { publicUrl, store }: RouteServices): void {
  api.post(
    `${BASE}/list`,
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
        summary: 'List rows',
        params: SheetParams,
        body: ListRowsBody,
        response: { 200: success(200, RowPage) },
      },
    },
    async (request, reply) => {
      const { db, sheet, body } = request
      const definition = await getDefinition(db, sheet)
      const { page_no, row_ids } = body
      const page_size = body.page_size ?? (row_ids === undefined ? DEFAULT_PAGE_SIZE : MAX_PAGE_SIZE)
      const paging = { offset: (page_no - 1) * page_size, limit: page_size, signal: watchDisconnect(reply) }
      const { view, ...page } =
        row_ids === undefined
          ? await readPage(request, store, definition, paging)
          : { ...(await listByIds(db, sheet, row_ids, paging)), view: undefined }
      const ids = page.rows.map(({ row_id }) => row_id)
      const shown = await writeShown(request, definition, view, ids)
      return sendRowPage(request, reply, publicUrl(), {
        definition,
        page: { ...page, page_no, page_size },
        shown,
      })
    },
  )
}

function defineDelete(api: Api): void {
  api.post(
    `${BASE}/delete`,
    {
      config: {
        scope: 'workflows:data:write',
        body: 'document',
        resource: sheetOfPath,
        numberTexts: ['row_ids', 'values'],
        selects: true,
        furtherErrors: faultsInSelection,
      },
      schema: {
        tags: ['Rows'],
        summary: 'Delete rows by their ids or by a selection',
        params: SheetParams,
        body: DeleteRowsBody,
        response: { 200: success(200, DeletedRows) },
      },
    },
    async (request) => {
      const { row_ids, ...selection } = request.body
      if (row_ids !== undefined) return ok(await deleteListed(request, row_ids))
      const deleted_count = await deleteSelected(request, selection)
      return ok({ deleted_count, deleted_row_ids: [], rejected: [] })
    },
  )
}

async function deleteListed(request: FastifyRequest, rowIds: readonly unknown[]) {
  const { db, sheet } = request
  const asked = [...new Set(rowIds)]
  const deleted_row_ids = await inTransaction(db, async (trx) => {
    const gone = await deleteRows(trx, sheet, asked.filter(isRowId))
    await auditDeletion(trx, request, gone.length)
    return gone
  })
  const gone = new Set(deleted_row_ids)
  const rejected = asked
    .filter((id) => !isRowId(id) || !gone.has(id.toLowerCase()))
    .map((row_id) => ({
      row_id,
      error: isRowId(row_id) ? 'not found on this sheet' : 'not a valid row id',
    }))
  return { deleted_count: gone.size, deleted_row_ids, rejected }
}

/** Deletes the rows of a selector, or all rows without one, and returns their number. */
async function deleteSelected(request: FastifyRequest, body: SelectorsBody): Promise<number> {
  const { db, sheet } = request
  const rows = await chooseRows(request, body, await getDefinition(db, sheet))
  return inTransaction(db, async (trx) => {
    const count = await deleteChosen(trx, sheet, rows)
    await auditDeletion(trx, request, count)
    return count
  })
}

function defineDeleteAll(api: Api): void {
  api.post(
    `${BASE}/delete-all`,
    {
      config: {
        scope: 'workflows:data:write',
        body: 'document',
        resource: sheetOfPath,
        numberTexts: ['values'],
        selects: true,
        furtherErrors: faultsInSelection,
      },
      schema: {
        tags: ['Rows'],
        summary: 'Delete all rows, or the rows of a selector',
        params: SheetParams,
        body: DeleteAllBody,
        response: { 200: success(200, DeletedCount) },
      },
    },
    async (request) => ok({ deleted_count: await deleteSelected(request, request.body) }),
  )
}

const isRowId = (id: unknown): id is string => typeof id === 'string' && isUuid(id)

async function auditDeletion(
  trx: Db,
  { caller, sheet }: Pick<FastifyRequest, 'caller' | 'sheet'>,
  count: number,
): Promise<void> {
  if (count === 0) return
  await recordAudit(trx, caller.orgId, caller, {
    action: 'rows.deleted',
    target: sheet.sheet_id,
    details: { count },
  })
}

/** Returns warnings for rows that would be rejected, for a request that only estimates the cost. */
const warnOfRejected = ({ index, errors }: RejectedRow) =>
  errors.map(({ field, code, message }) => ({
    field: field === '' ? `rows[${index}]` : `rows[${index}].${field}`,
    code,
    message,
  }))
