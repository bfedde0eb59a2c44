import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { type AppError, invalid } from '../../lib/errors.ts'

/** A stored row. `data` is JSON text keyed by column number; the caller decides how to read its numbers. */
export type StoredRow = {
  row_id: string
  data: string
  /** The cells as `packedCells` makes them, if they were read with the row. */
  cells?: string | undefined
}

/** The bytes of JSON that the inputs of one page of rows may take. */
export const MAX_PAGE_BYTES = 8 * 1024 * 1024
/**
 * The size in the database above which values are not read with their row: compressed, they may be a hundred times as long.
 */
const READ_IN_PASSING = sql.lit(2000)
/** The stored bytes of large values that are read at once. */
const BATCH_BYTES = 128 * 1024

/** A row of a page whose values may not have been read yet. */
export type LightRow = Pick<StoredRow, 'row_id' | 'cells'> & {
  data: string | null
  stored_bytes: number | null
}

/** Selects the values of `rows r`, or their stored size if they are large. */
export const lightValues = sql`case when pg_column_size(r.data) <= ${READ_IN_PASSING} then r.data::text end as data,
  case when pg_column_size(r.data) > ${READ_IN_PASSING} then pg_column_size(r.data) end as stored_bytes`

/** Reads the large values of a page batch by batch. Refuses a page that would be too large before it is in memory. */
export async function readLargeValues(db: Db, orgId: string, rows: LightRow[]): Promise<StoredRow[]> {
  const found = new Map<string, string>()
  const large = rows.filter(({ data }) => data === null)
  let total = rows.reduce((sum, { data }) => sum + (data?.length ?? 0), 0)
  let batch: string[] = []
  let batchBytes = 0
  const read = async () => {
    const { rows: some } = await sql<StoredRow>`select row_id, data::text as data from rows
      where org_id = ${orgId} and row_id = any(${batch}::uuid[])`.execute(db)
    for (const { row_id, data } of some) {
      found.set(row_id, data)
      total += data.length
    }
    if (total > MAX_PAGE_BYTES)
      throw pageTooLarge('rows', rows.length, total, found.size + rows.length - large.length)
    batch = []
    batchBytes = 0
  }
  for (const { row_id, stored_bytes } of large) {
    batch.push(row_id)
    batchBytes += stored_bytes ?? 0
    if (batchBytes >= BATCH_BYTES) await read()
  }
  if (batch.length > 0) await read()
  // A row may have been deleted between the two reads.
  return rows.flatMap(({ row_id, data, cells }) => {
    const text = data ?? found.get(row_id)
    return text === undefined ? [] : [{ row_id, data: text, cells }]
  })
}

/** Creates the error for a page that is too large, with the number that fits: `read` of its `count` rows take `bytes`. */
export function pageTooLarge(what: 'rows' | 'records', count: number, bytes: number, read: number): AppError {
  const fitting = Math.max(1, Math.floor((MAX_PAGE_BYTES / bytes) * Math.min(read, count)))
  const max = MAX_PAGE_BYTES.toLocaleString('en-US')
  return invalid(
    'page_size',
    `the values of these ${what} take more than ${max} bytes: ask for fewer of them, such as ${fitting}`,
  )
}
