import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { newId } from '../../lib/ids.ts'

export type OutgoingMail = { email: string; subject: string; content: string }
export type WaitingMail = OutgoingMail & { org_id: string; message_id: string; tries: number }
type MailKey = Pick<WaitingMail, 'org_id' | 'message_id'>

/** Stores mails to be sent by a worker. Call it in the transaction of their cause. */
export async function putMails(trx: Db, orgId: string, mails: readonly OutgoingMail[]): Promise<void> {
  if (mails.length === 0) return
  await trx
    .insertInto('mail_outbox')
    .values(mails.map((mail) => ({ org_id: orgId, message_id: newId(), ...mail })))
    .execute()
}

/**
 * Claims due mails, some of each organisation. They belong to the calling process; if it dies, others can claim them after `seconds`.
 */
export async function claimMails(
  db: Db,
  { limit, ofOrg, seconds }: { limit: number; ofOrg: number; seconds: number },
): Promise<WaitingMail[]> {
  const { rows } = await sql<WaitingMail>`
    with fair as (
      select org_id, message_id, due_at, row_number() over (partition by org_id order by due_at) as place
      from (select * from mail_outbox where due_at <= now() order by due_at limit 5000) due
    ), chosen as (
      select m.org_id, m.message_id from fair f join mail_outbox m using (org_id, message_id)
      where f.place <= ${ofOrg} and m.due_at <= now()
      order by f.place, f.due_at limit ${sql.lit(limit)} for update of m skip locked
    )
    update mail_outbox m set tries = m.tries + 1, due_at = now() + ${seconds} * interval '1 second'
    from chosen c where m.org_id = c.org_id and m.message_id = c.message_id
    returning m.org_id, m.message_id, m.email, m.subject, m.content, m.tries`.execute(db)
  return rows
}

/** Deletes a mail that was sent. */
export async function endMail(db: Db, { org_id, message_id }: MailKey): Promise<void> {
  await sql`delete from mail_outbox where org_id = ${org_id} and message_id = ${message_id}`.execute(db)
}

/** Records why a mail was not sent. `retryMs`: when it is tried again, or null to give up. */
export async function failMail(
  db: Db,
  { org_id, message_id }: MailKey,
  { error, retryMs }: { error: string; retryMs: number | null },
): Promise<void> {
  await sql`update mail_outbox set error = ${error},
      due_at = case when ${retryMs}::float8 is not null then now() + ${retryMs}::float8 * interval '1 millisecond' end
    where org_id = ${org_id} and message_id = ${message_id}`.execute(db)
}

/** Postpones a mail that has to wait for the quota of its organisation. This does not count as a try. */
export async function postponeMail(db: Db, { org_id, message_id }: MailKey, ms: number): Promise<void> {
  await sql`update mail_outbox set tries = tries - 1, due_at = now() + ${ms}::float8 * interval '1 millisecond'
    where org_id = ${org_id} and message_id = ${message_id}`.execute(db)
}

const KEPT_DAYS = sql.lit(30)

/** Deletes mails that were given up a while ago. */
export async function forgetMails(db: Db): Promise<void> {
  await sql`delete from mail_outbox where due_at is null and made_at < now() - ${KEPT_DAYS} * interval '1 day'`.execute(
    db,
  )
}
