import type { Warning } from '#contract/envelope.ts'
import { fitsInput } from '#contract/value-fit.ts'
import type { InputColumn } from '../catalog/chain/definition.ts'
import type { Db } from '../database/connection/db.ts'
import type { SheetKey } from '../database/tables/sheet-key.ts'
import { plural } from '../lib/plural.ts'
import { describeMismatch } from './rows/value-warnings.ts'
import { readColumn } from './store/input-values.ts'

/** The rows that are checked when an input gets another type. More would keep the caller waiting. */
const MAX_CHECKED = 100_000

/** Warns of stored values that do not fit their input (D79). They stay as they are. */
export async function warnOfMisfits(db: Db, sheet: SheetKey, input: InputColumn): Promise<Warning[]> {
  if (input.type === 'string') return []
  let count = 0
  let checked = 0
  let complete = false
  for await (const values of readColumn(db, sheet, input.column)) {
    count += values.filter((value) => !fitsInput(value, input)).length
    checked += values.length
    complete = checked < MAX_CHECKED
    if (!complete) break
  }
  if (count === 0) return []
  const rest = complete ? '' : `; the first ${plural(checked, 'row was', 'rows were')} checked`
  const message = `${describeMismatch(input.type, count)}${rest}; ${count === 1 ? 'it stays' : 'they stay'} as given`
  return [{ field: 'type', code: 'type_mismatch', message }]
}
