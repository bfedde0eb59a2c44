import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'

export type PreviewTurn = { ok: true } | { ok: false; waitMs: number }

/**
 * Counts a preview against the organisation's hourly limit, by the database's clock and in one statement: exact for any
 * number of processes. A refused preview is not counted. The window is the clock hour, kept in the column `minute`.
 */
export async function takePreview(
  db: Db,
  { orgId, perHour }: { orgId: string; perHour: number },
): Promise<PreviewTurn> {
  const { rows } = await sql<{ counted: boolean; wait_ms: number }>`
    with taken as (
      insert into rate_windows as w (bucket, minute, minute_used, day, day_used, granted, per_minute, per_day)
      values (${`previews ${orgId}`}, date_trunc('hour', now(), 'UTC'), 1, date_trunc('day', now(), 'UTC'), 0, 1,
        ${perHour}::int, ${perHour}::int)
      on conflict (bucket) do update set minute = greatest(w.minute, excluded.minute), day = excluded.day,
        minute_used = case when w.minute >= excluded.minute then w.minute_used else 0 end + 1
      where case when w.minute >= excluded.minute then w.minute_used else 0 end < ${perHour}::int
      returning bucket)
    select exists (select from taken) as counted,
      ceil(extract(epoch from date_trunc('hour', now(), 'UTC') + interval '1 hour' - now()) * 1000)::int as wait_ms`.execute(
    db,
  )
  const turn = rows[0]
  if (turn === undefined) throw new Error('the query of the preview quota returned no row')
  return turn.counted ? { ok: true } : { ok: false, waitMs: turn.wait_ms }
}
