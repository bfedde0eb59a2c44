import { sql } from 'kysely'
import type { Db } from '../database/connection/db.ts'
import type { SheetKey } from '../database/tables/sheet-key.ts'
import { deleteAllRows, deleteRows } from '../sheets/store/rows.ts'
import { chosenRows, type RowChoice } from './row-choice.ts'

/** The number of rows that one statement deletes. */
const PIECE = 5000

/** Deletes the chosen rows within a transaction, and returns their number. */
export async function deleteChosen(trx: Db, sheet: SheetKey, choice: RowChoice): Promise<number> {
  if (choice.kind === 'all') return deleteAllRows(trx, sheet)
  const { rows } = await sql<{
    row_id: string
  }>`select row_id from (${chosenRows(sheet, choice)}) chosen order by seq`.execute(trx)
  const ids = rows.map(({ row_id }) => row_id)
  let deleted = 0
  for (let from = 0; from < ids.length; from += PIECE) {
    deleted += (await deleteRows(trx, sheet, ids.slice(from, from + PIECE))).length
  }
  return deleted
}
