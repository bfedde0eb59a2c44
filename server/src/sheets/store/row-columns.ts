import { type RawBuilder, sql } from 'kysely'
import { DECIMAL, MAX_DECIMAL } from '#contract/decimal.ts'
import type { OutputSource, ValueSource } from '../../database/tables/selection.ts'

/** Selects a value of the row `r` as JSON; null if it is missing. Outputs of cells that are not complete are missing. */
export function valueJson(source: ValueSource): RawBuilder<unknown> {
  const head = 'column' in source ? sql`(r.data -> ${String(source.column)})` : outputJson(source)
  const { steps = [], whole = null } = source
  return steps.length === 0 ? head : sql`loam_at(${head}, ${JSON.stringify(steps)}::jsonb, ${whole}::text)`
}

/**
 * Selects an output of the row `r`. Its cell is looked up by key, whatever the planner knows about the sheet. Cells that are to run
 * again have been removed.
 */
function outputJson({ action, output }: OutputSource): RawBuilder<unknown> {
  return sql`(select c.outputs -> ${output} from cells c where c.org_id = r.org_id and c.row_id = r.row_id
    and c.action = ${action} and c.status = 'complete' offset 0)`
}

/** Returns the text as a number by the grammar of DECIMAL. Any other text is null and fails every comparison. */
export function asNumber(text: RawBuilder<string | null>): RawBuilder<number | null> {
  return sql`case when length(${text}) <= ${sql.lit(MAX_DECIMAL)} and (${text}) ~ ${sql.lit(DECIMAL.source)} then (${text})::numeric end`
}

/** Returns the text as milliseconds since 1970, or null if it is no ISO 8601 date or date-time. */
export const asInstant = (text: RawBuilder<string | null>): RawBuilder<number | null> =>
  sql`loam_instant(${text})`
