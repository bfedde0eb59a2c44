import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'

export type MailTurn = { ok: true; replyTo: string | null } | { ok: false; waitMs: number }

/**
 * Counts the recipients of a mail towards the organisation's hourly limit, by the database's clock, in one
 * statement: exact for any number of processes. A mail over the limit is not counted. Returns the Reply-To
 * address for the mail of a run.
 */
export async function takeMailTurn(
  db: Db,
  {
    orgId,
    runId,
    recipients,
    perHour,
  }: { orgId: string; runId: string | null; recipients: number; perHour: number },
): Promise<MailTurn> {
  const { rows } = await sql<{ counted: boolean; wait_ms: number; reply_to: string | null }>`
    with taken as (
      insert into mail_windows as w (org_id, hour, used)
      select ${orgId}::uuid, date_trunc('hour', now(), 'UTC'), ${recipients}::int
      where ${recipients}::int <= ${perHour}::int
      on conflict (org_id) do update set hour = excluded.hour,
        used = case when w.hour = excluded.hour then w.used else 0 end + excluded.used
      where case when w.hour = excluded.hour then w.used else 0 end + excluded.used <= ${perHour}::int
      returning used)
    select exists (select from taken) as counted,
      ceil(extract(epoch from date_trunc('hour', now(), 'UTC') + interval '1 hour' - now()) * 1000)::int as wait_ms,
      -- The member who started the run, or else the owner of the workflow.
      coalesce(
        (select m.email from runs r join members m on m.org_id = r.org_id and m.email = r.created_by
          where r.org_id = ${orgId} and r.run_id = ${runId}::uuid),
        (select m.email from runs r
          join sheets s on s.org_id = r.org_id and s.sheet_id = r.sheet_id
          join workflows f on f.org_id = s.org_id and f.workflow_id = s.workflow_id
          join members m on m.org_id = f.org_id and m.member_id = f.owner_id
          where r.org_id = ${orgId} and r.run_id = ${runId}::uuid)) as reply_to`.execute(db)
  const turn = rows[0]
  if (turn === undefined) throw new Error('the mail quota statement returned no row')
  return turn.counted ? { ok: true, replyTo: turn.reply_to } : { ok: false, waitMs: turn.wait_ms }
}
