import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'

/** The number of minutes for which a sign-in link works. */
export const LINK_MINUTES = 15

const isOpen = sql<SqlBool>`sign_in_links.expires_at > now()`

export async function insertSignInLink(
  db: Db,
  link: { token_hash: Buffer; org_id: string; member_id: string; is_mailed: boolean },
): Promise<{ expires_at: Date }> {
  return db
    .insertInto('sign_in_links')
    .values({ ...link, expires_at: sql`now() + make_interval(mins => ${sql.lit(LINK_MINUTES)})` })
    .returning('expires_at')
    .executeTakeFirstOrThrow()
}

/** Returns the member that a valid link would sign in. Does not use up the link. */
export async function findSignInLink(
  db: Db,
  tokenHash: Buffer,
): Promise<{ email: string; organisation: string } | undefined> {
  return db
    .selectFrom('sign_in_links')
    .innerJoin('members', (join) =>
      join
        .onRef('members.org_id', '=', 'sign_in_links.org_id')
        .onRef('members.member_id', '=', 'sign_in_links.member_id'),
    )
    .innerJoin('organisations', 'organisations.org_id', 'sign_in_links.org_id')
    .select(['members.email', 'organisations.name as organisation'])
    .where('token_hash', '=', tokenHash)
    .where(isOpen)
    .executeTakeFirst()
}

/**
 * Uses up a link and returns the member that it signs in, or undefined if the link is invalid or has expired.
 */
export async function consumeSignInLink(
  db: Db,
  tokenHash: Buffer,
): Promise<{ org_id: string; member_id: string; is_mailed: boolean } | undefined> {
  return db
    .deleteFrom('sign_in_links')
    .where('token_hash', '=', tokenHash)
    .where(isOpen)
    .returning(['org_id', 'member_id', 'is_mailed'])
    .executeTakeFirst()
}

/** Counts a requested mail. Returns the time to wait if the address has reached its hourly limit. */
export async function takeSignInTurn(
  db: Db,
  addressHash: Buffer,
  perHour: number,
): Promise<{ ok: true } | { ok: false; waitSeconds: number }> {
  const { rows } = await sql<{ counted: boolean; wait: number }>`
    with taken as (
      insert into sign_in_windows as w (address_hash, hour, used)
      values (${addressHash}, date_trunc('hour', now(), 'UTC'), 1)
      on conflict (address_hash) do update set hour = excluded.hour,
        used = case when w.hour = excluded.hour then w.used else 0 end + 1
      where w.hour <> excluded.hour or w.used < ${perHour}::int
      returning used)
    select exists (select from taken) as counted,
      ceil(extract(epoch from date_trunc('hour', now(), 'UTC') + interval '1 hour' - now()))::int as wait`.execute(
    db,
  )
  const turn = rows[0]
  if (turn === undefined) throw new Error('the sign-in mail limit returned no row')
  return turn.counted ? { ok: true } : { ok: false, waitSeconds: turn.wait }
}

export async function forgetOldSignIns(db: Db): Promise<void> {
  await db
    .deleteFrom('sign_in_links')
    .where(sql<SqlBool>`not ${isOpen}`)
    .execute()
  await sql`delete from sign_in_windows where hour < date_trunc('hour', now(), 'UTC')`.execute(db)
}
