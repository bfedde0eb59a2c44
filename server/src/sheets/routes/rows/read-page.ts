import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { ListRowsBody } from '#contract/rows.ts'
import type { Definition } from '../../../catalog/chain/definition.ts'
import { cancellable } from '../../../database/connection/cancellation.ts'
import { type Db, inTransaction, type Store } from '../../../database/connection/db.ts'
import { listMatching, sortMatching } from '../../store/matching-rows.ts'
import type { Paging } from '../../store/partial-matches.ts'
import { listOrdered, type RowOrder, useOrder } from '../../store/row-orders.ts'
import { listPage, type Page } from '../../store/rows.ts'
import { findView, type ViewRecord } from '../../store/views.ts'
import { isEmptySelection, resolveRows, type SelectedRows } from './row-selection.ts'

type Listing = FastifyRequest<{ Body: z.infer<typeof ListRowsBody> }>
type Wanted = Required<Paging> & { signal: AbortSignal }

/** Reads the page of rows that the body of List Rows asks for without ids. */
export async function readPage(
  request: Pick<Listing, 'db' | 'sheet' | 'body' | 'catalogue' | 'caller'>,
  store: Pick<Store, 'query'>,
  definition: Definition,
  paging: Wanted,
): Promise<Page & { view?: ViewRecord | undefined }> {
  const { db, sheet, body, caller } = request
  if (body.order_id !== undefined) {
    const order = await useOrder(db, sheet, body.order_id)
    const view = order.view_id === null ? undefined : await findView(db, sheet, order.view_id, caller)
    return { ...(await listOrdered(db, sheet, order, paging)), order, view }
  }
  const rows = await resolveRows(request, body, definition)
  if (rows.sort.length > 0) {
    const order = await sortFor(request, store, rows, paging.signal)
    return { ...(await listOrdered(db, sheet, order, paging)), order, view: rows.view }
  }
  const page = isEmptySelection(rows.selection)
    ? await listPage(db, sheet, paging.offset, paging.limit)
    : await listMatching(db, sheet, rows.selection, paging)
  return { ...page, view: rows.view }
}

/** Sorts the selected rows, and stops when the client disconnects. */
async function sortFor(
  { db, sheet }: Pick<Listing, 'db' | 'sheet'>,
  store: Pick<Store, 'query'>,
  { selection, sort, view }: SelectedRows,
  signal: AbortSignal,
): Promise<RowOrder> {
  const work = (trx: Db) => sortMatching(trx, sheet, selection, { sort, view_id: view?.view_id })
  // A call with a key is one transaction that contains its answer.
  return db.isTransaction
    ? inTransaction(db, work)
    : cancellable(store, db, { signal, access: 'read write' }, work)
}
