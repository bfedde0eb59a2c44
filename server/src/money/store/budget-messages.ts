import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { BudgetRecord } from './budgets.ts'

/** A message about a budget alert: a mail, or without an address a delivery to the webhook. */
export type BudgetMessage = BudgetRecord & {
  message_id: string
  email: string | null
  /** The number of tries, including the current one. */
  tries: number
  threshold: number
  limit_millis: number
  spent_millis: number
  period_start: Date | null
  at: Date
}

/** The messages that a process has in flight to one receiver (an address or a webhook) of an organisation. */
export type Sending = { org_id: string; receiver: string; count: number }

type Places = {
  limit: number
  ofOrg: number
  ofReceiver: number
  seconds: number
  sending: readonly Sending[]
}

/**
 * Claims due messages, up to a number for each organisation and each receiver, those never tried before first. A threshold
 * waits until the lower ones of its period and limit have been tried. The messages belong to the calling process; if it dies,
 * others can claim them after `seconds`.
 */
export async function claimBudgetMessages(
  db: Db,
  { limit, ofOrg, ofReceiver, seconds, sending }: Places,
): Promise<BudgetMessage[]> {
  const { rows } = await sql<BudgetMessage>`
    with busy as (
      select * from jsonb_to_recordset(${JSON.stringify(sending)}::jsonb) as s (org_id uuid, receiver text, count int)
    ), waiting as (
      -- Includes messages that a process is trying for the first time.
      select m.org_id, m.message_id, m.due_at, m.tries, ${RECEIVER} as receiver, a.threshold,
        count(*) filter (where m.error is null) over (
          partition by m.org_id, ${RECEIVER}, a.budget_id, a.period_start, a.run_id, a.limit_millis order by a.threshold
          rows between unbounded preceding and 1 preceding) as lower
      from budget_messages m join budget_alerts a on a.org_id = m.org_id and a.alert_id = m.alert_id
      join budgets b on b.org_id = a.org_id and b.budget_id = a.budget_id
      where m.due_at <= now() + ${seconds} * interval '1 second' and (m.due_at <= now() or m.error is null)
    ), next as (
      select w.org_id, w.message_id, w.due_at, w.threshold, w.tries > 0 as is_retry, row_number() over (
          partition by w.org_id, w.receiver order by w.tries > 0, w.due_at, w.threshold)
        + coalesce((select count from busy s where s.org_id = w.org_id and s.receiver = w.receiver), 0) as place
      from waiting w where w.due_at <= now() and w.lower = 0
    ), fair as (
      select n.*, row_number() over (partition by org_id order by is_retry, place, due_at, threshold)
        + coalesce((select sum(count) from busy s where s.org_id = n.org_id), 0) as place_in_org
      from next n where place <= ${ofReceiver}
    ), due as (
      select m.org_id, m.message_id from fair n join budget_messages m using (org_id, message_id)
      where n.place_in_org <= ${ofOrg} and m.due_at <= now()
      order by n.is_retry, n.place_in_org, n.due_at limit ${sql.lit(limit)} for update of m skip locked
    ), claimed as (
      update budget_messages m set tries = m.tries + 1, due_at = now() + ${seconds} * interval '1 second'
      from due where m.org_id = due.org_id and m.message_id = due.message_id
      returning m.org_id, m.message_id, m.alert_id, m.email, m.tries
    )
    select b.*, c.message_id, c.email, c.tries, a.threshold, a.limit_millis, a.spent_millis, a.period_start, a.at
    from claimed c join budget_alerts a on a.org_id = c.org_id and a.alert_id = c.alert_id
    join budgets b on b.org_id = a.org_id and b.budget_id = a.budget_id`.execute(db)
  return rows
}

const RECEIVER = sql`coalesce(m.email, b.webhook_url, '')`

/** Returns the receiver of a message. */
export const getReceiver = ({ email, webhook_url }: BudgetMessage): string => email ?? webhook_url ?? ''

/** Records that the message was sent, is to be retried, or has finally failed. */
export async function endBudgetMessage(
  db: Db,
  { org_id, message_id }: Pick<BudgetMessage, 'org_id' | 'message_id'>,
  { error, retryMs }: { error: string | null; retryMs: number | null },
): Promise<void> {
  await sql`update budget_messages set error = ${error},
      due_at = case when ${retryMs}::float8 is null then null else now() + ${retryMs}::float8 * interval '1 millisecond' end
    where org_id = ${org_id} and message_id = ${message_id}`.execute(db)
}

/** Postpones a message that has to wait. This does not count as a try. */
export async function postponeBudgetMessage(
  db: Db,
  { org_id, message_id }: Pick<BudgetMessage, 'org_id' | 'message_id'>,
  ms: number,
): Promise<void> {
  await sql`update budget_messages set tries = tries - 1, due_at = now() + ${ms}::float8 * interval '1 millisecond'
    where org_id = ${org_id} and message_id = ${message_id}`.execute(db)
}
