import { type RawBuilder, sql } from 'kysely'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { isFailed } from './failed-cells.ts'

/** Selects the rows of `candidates`, with the number of actions before the one at which each begins. */
export function startsAtFailure(
  { org_id }: SheetKey,
  candidates: RawBuilder<unknown>,
  { actions, ends }: { actions: readonly string[]; ends: readonly string[] },
): RawBuilder<unknown> {
  const place = sql`array_position(${actions}::text[], c.action)`
  const wasSkipped = sql`(c.status = 'condition_not_met' or c.kept->>'because' = 'condition_not_met')`
  return sql`
    select r.row_id, r.seq, least(found.failed, found.missing) - 1 as skipped
    from (${candidates}) r, lateral (
      select failed, case when missing <= ${actions.length}::int then missing end as missing, ended
      from (
        select min(${place}) filter (where ${isFailed}) as failed,
          min(${place}) filter (where ${wasSkipped} and c.action = any(${ends}::text[])) as ended,
          coalesce((select min(n) from generate_series(1, ${actions.length}::int + 1) n where n <> all(array_agg(${place}))), 1) as missing
        from cells c where c.org_id = ${org_id} and c.row_id = r.row_id and c.action = any(${actions}::text[]) offset 0
      ) places
    ) found
    where least(found.failed, found.missing) < coalesce(found.ended, ${actions.length}::int + 1)`
}
