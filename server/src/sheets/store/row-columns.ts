import { type RawBuilder, sql } from 'kysely'
import { DECIMAL, MAX_DECIMAL } from '#contract/decimal.ts'
import type { OutputSource, ValueSource } from '../../database/tables/selection.ts'

/** Selects an output as JSON. */
export type ReadOutput = (source: OutputSource) => RawBuilder<unknown>

/** Selects a value of the row `r` as JSON; null if it is missing. Outputs of cells that are not complete are missing. */
export function valueJson(source: ValueSource, readOutput: ReadOutput = outputJson): RawBuilder<unknown> {
  const head = 'column' in source ? sql`(r.data -> ${String(source.column)})` : readOutput(source)
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

/** Selects the text of a JSON value. It is null if the value is empty: null, an empty text, list or object. */
export function valueText(json: RawBuilder<unknown>): RawBuilder<string | null> {
  return sql`nullif(case when jsonb_typeof(${json}) in ('array', 'object') and ${json} in ('[]', '{}') then null
    else ${json} #>> '{}' end, '')`
}

/**
 * Returns the text as a number by the grammar of DECIMAL. Any other text is null and fails every comparison. Plain digits, and texts
 * that begin otherwise than a number, are told apart without the pattern, which takes longer than all else.
 */
export function asNumber(text: RawBuilder<string | null>): RawBuilder<number | null> {
  return sql`case when length(${text}) between 1 and 18 and translate(${text}, '0123456789', '') = '' then (${text})::numeric
    when strpos('-.0123456789', left(${text}, 1)) > 0 and length(${text}) <= ${sql.lit(MAX_DECIMAL)}
      and (${text}) ~ ${sql.lit(DECIMAL.source)} then (${text})::numeric end`
}

/** Returns the text as milliseconds since 1970, or null if it is no ISO 8601 date or date-time. */
export const asInstant = (text: RawBuilder<string | null>): RawBuilder<number | null> =>
  sql`case when substr(${text}, 5, 1) = '-' then loam_instant(${text}) end`
