import type { FastifyRequest } from 'fastify'
import { success } from '#contract/envelope.ts'
import {
  DeletedForNow,
  DeleteForNowBody,
  EditedRows,
  EditParams,
  EditRowsBody,
  KeptEdits,
  RestoredRows,
  TurnedEdit,
} from '#contract/row-edits.ts'
import type { RejectedRow } from '#contract/rows.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api } from '../../../api/services.ts'
import { type Db, inTransaction } from '../../../database/connection/db.ts'
import type { SheetKey } from '../../../database/tables/sheet-key.ts'
import { AppError } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import { plural } from '../../../lib/plural.ts'
import { recordAudit } from '../../../organisation/store/audit.ts'
import { fitRejected, parseRows } from '../../rows/intake.ts'
import { getDefinition } from '../../store/definitions.ts'
import { keepEdit, listEdits, lockEdits, undoOrRedoEdit } from '../../store/edit-history.ts'
import {
  countDeletedRows,
  editRows,
  keepDeletedRows,
  KEPT_SECONDS,
  MAX_KEPT_BYTES,
  restoreRows,
} from '../../store/row-edits.ts'
import { recordRowChanges } from '../../store/row-history.ts'
import { isNearRowLimit, requireRoom } from '../../store/row-quota.ts'
import { deleteRows, findRowIds } from '../../store/rows.ts'
import { SheetParams, sheetOfPath } from '../workflows/resources.ts'

const BASE = '/workflows/:workflow_id/sheets/:sheet_id/rows'
const EDITS = '/workflows/:workflow_id/sheets/:sheet_id/edits'
const config = { scope: 'workflows:data:write' as const, resource: sheetOfPath }

/** Registers the endpoints for edits in the grid: changing values, and deleting rows in a way that can be undone. */
export function rowEditRoutes(api: Api): void {
  defineEdit(api)
  defineDelete(api)
  defineRestore(api)
}

function defineEdit(api: Api): void {
  api.patch(
    BASE,
    {
      config: { ...config, body: 'rows', numberTexts: ['inputs'] },
      schema: { params: SheetParams, body: EditRowsBody, response: { 200: success(200, EditedRows) } },
    },
    async (request) => {
      const { db, sheet, body } = request
      const { inputs } = await getDefinition(db, sheet)
      const { accepted, rejected } = await parseRows(
        inputs,
        body.rows.map((row) => row.inputs),
      )
      const edits = accepted.map(({ index, data }) => ({
        rowId: body.rows[index]?.row_id ?? '',
        data,
        index,
      }))
      const editor = { ...sheet, member_id: request.caller.memberId }
      const { taken, edit_id } = await inTransaction(db, async (trx) => {
        await lockEdits(trx, editor)
        const changes = await editRows(trx, sheet, edits)
        await audit(trx, request, 'rows.edited', changes.length)
        await recordRowChanges(trx, request.sheet, request.caller.email, changes)
        return {
          taken: new Set(changes.map(({ row_id }) => row_id)),
          edit_id: await keepEdit(trx, editor, body.edit_id, changes),
        }
      })
      const refused = edits
        .filter(({ rowId }) => !taken.has(rowId.toLowerCase()))
        .map(({ rowId, index }): RejectedRow => {
          const message = 'is no longer a row of this sheet, or would become too large'
          return {
            row: { row_id: rowId },
            index,
            errors: [{ field: 'row_id', code: 'malformed_row', message }],
          }
        })
      return ok({ edited_row_ids: [...taken], edit_id, rejected: fitRejected([...rejected, ...refused]) })
    },
  )
}

function defineDelete(api: Api): void {
  api.post(
    `${BASE}/delete`,
    {
      config: { ...config, body: 'control' },
      schema: { params: SheetParams, body: DeleteForNowBody, response: { 200: success(200, DeletedForNow) } },
    },
    async (request) => {
      const asked = [...new Set(request.body.row_ids)]
      const ids = asked.filter(isUuid)
      const deleted_row_ids = await inTransaction(request.db, async (trx) => {
        await keepDeletedRows(trx, request.sheet, ids)
        const gone = await deleteRows(trx, request.sheet, ids)
        await audit(trx, request, 'rows.deleted', gone.length)
        return gone
      })
      const gone = new Set(deleted_row_ids)
      const rejected = asked
        .filter((id) => !gone.has(id.toLowerCase()))
        .map((row_id) => ({ row_id, error: 'not found on this sheet' }))
      return ok({ deleted_count: gone.size, deleted_row_ids, rejected })
    },
  )
}

function defineRestore(api: Api): void {
  api.post(
    `${BASE}/restore`,
    {
      config: { ...config, body: 'control' },
      schema: { params: SheetParams, body: DeleteForNowBody, response: { 200: success(200, RestoredRows) } },
    },
    async (request) => {
      const asked = new Set(request.body.row_ids.map((id) => id.toLowerCase()))
      const ids = [...asked].filter(isUuid)
      const restored_row_ids = await inTransaction(request.db, async (trx) => {
        const { org_id } = request.sheet
        if (await isNearRowLimit(trx, org_id, ids.length)) await requireRoom(trx, org_id, ids.length)
        const back = await restoreRows(trx, request.sheet, ids)
        if (back.length === 0)
          throw new AppError('Gone', await explainUnrestored(trx, request.sheet, ids, asked.size))
        await audit(trx, request, 'rows.restored', back.length)
        return back
      })
      return ok({ restored_count: restored_row_ids.length, restored_row_ids })
    },
  )
}

/** Returns the reasons why none of the rows could be restored. */
async function explainUnrestored(
  db: Db,
  sheet: SheetKey,
  ids: readonly string[],
  asked: number,
): Promise<string> {
  const living = (await findRowIds(db, sheet, ids)).size
  const emptied = await countDeletedRows(db, sheet, ids)
  const lost = asked - living - emptied
  const reasons = [
    living > 0 && `${plural(living, 'row')}: not deleted`,
    emptied > 0 && `${plural(emptied, 'row')}: the sheet was emptied after the deletion`,
    lost > 0 &&
      `${plural(lost, 'row')}: no copy is kept; a copy lasts ${KEPT_SECONDS} seconds, and a row with more than ${MAX_KEPT_BYTES / 2 ** 20} MiB of outputs has none`,
  ].filter((reason) => reason !== false)
  return `None of these rows can be restored. ${reasons.join('. ')}`
}

/** Registers the endpoints for a member's own edits of a sheet, from any browser: list, undo and redo. */
export function editHistoryRoutes(api: Api): void {
  api.get(
    EDITS,
    { config, schema: { params: SheetParams, response: { 200: success(200, KeptEdits) } } },
    async ({ db, sheet, caller }) => {
      const edits = await listEdits(db, { ...sheet, member_id: caller.memberId })
      return ok(edits.map(({ made_at, ...edit }) => ({ ...edit, made_at: made_at.toISOString() })))
    },
  )

  for (const verb of ['undo', 'redo'] as const) {
    api.post(
      `${EDITS}/:edit_id/${verb}`,
      {
        config: { ...config, body: 'control' },
        schema: { params: SheetParams.extend(EditParams.shape), response: { 200: success(200, TurnedEdit) } },
      },
      async (request) => {
        const editor = { ...request.sheet, member_id: request.caller.memberId }
        const turned = await inTransaction(request.db, async (trx) => {
          await lockEdits(trx, editor)
          const done = await undoOrRedoEdit(trx, editor, request.params.edit_id, verb === 'undo')
          await audit(trx, request, 'rows.edited', done.changed.length)
          await recordRowChanges(trx, request.sheet, request.caller.email, done.changed)
          return done
        })
        return ok({
          changed_row_ids: turned.changed.map(({ row_id }) => row_id),
          values_left: turned.values_left,
        })
      },
    )
  }
}

async function audit(
  trx: Db,
  { caller, sheet }: Pick<FastifyRequest, 'caller' | 'sheet'>,
  action: 'rows.edited' | 'rows.deleted' | 'rows.restored',
  count: number,
): Promise<void> {
  if (count === 0) return
  await recordAudit(trx, caller.orgId, caller, { action, target: sheet.sheet_id, details: { count } })
}
