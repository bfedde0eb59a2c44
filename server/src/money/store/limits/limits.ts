import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'
import { newId } from '../../../lib/ids.ts'
import { LIMIT_LATE } from './budget-matches.ts'

/** The state of a limit. Amounts are whole thousandths of credits. */
export type LimitState = {
  purse_id: string
  kind: 'cap' | 'budget'
  budget_id: string | null
  period_start: Date | null
  /** The most that may be spent. If it is null, spending is counted and never refused. */
  limit: number | null
  /** The credits that cells were charged, in the ledger or not yet. */
  spent: number
  /** The credits that are held and may be given back. */
  held: number
  refused_at: Date | null
}

/**
 * Creates the cap (M5) of everything that a request starts, of which something may be spent already. With a limit of null it
 * counts and refuses nothing.
 */
export async function createCap(
  db: Db,
  orgId: string,
  limitMillis: number | null,
  spentMillis = 0,
): Promise<string> {
  const purse_id = newId()
  await db
    .insertInto('purses')
    .values({ org_id: orgId, purse_id, kind: 'cap', limit_millis: limitMillis, spent_millis: spentMillis })
    .execute()
  return purse_id
}

/**
 * Opens the cap of a day (UTC, by the database's clock) that many runs share, such as those of a webhook or a sync. `subject`
 * names its owner. A limit that was changed during the day applies to the next hold.
 */
export const openDailyCap = (db: Db, orgId: string, cap: SharedCap): Promise<string> =>
  openSharedCap(db, orgId, cap, sql`date_trunc('day', now(), 'UTC')`)

/** Opens the cap of a subject that is capped once, such as a cycle of a sync. */
export const openLastingCap = (db: Db, orgId: string, cap: SharedCap): Promise<string> =>
  openSharedCap(db, orgId, cap, sql`'epoch'::timestamptz`)

type SharedCap = { subject: string; limitMillis: number }

async function openSharedCap(
  db: Db,
  orgId: string,
  { subject, limitMillis }: SharedCap,
  start: RawBuilder<unknown>,
): Promise<string> {
  // Frequent runs find the cap unchanged, and do not wait for transactions that lock it to spend.
  const { rows: known } = await sql<{ purse_id: string }>`
    select purse_id from purses where org_id = ${orgId} and subject = ${subject} and period_start = ${start}
      and limit_millis = ${limitMillis}::bigint`.execute(db)
  if (known[0] !== undefined) return known[0].purse_id
  const { rows } = await sql<{ purse_id: string }>`
    insert into purses as p (org_id, purse_id, kind, limit_millis, subject, period_start)
    values (${orgId}, ${newId()}, 'cap', ${limitMillis}::bigint, ${subject}, ${start})
    on conflict (org_id, subject, period_start) where subject is not null
      do update set limit_millis = excluded.limit_millis
    returning purse_id`.execute(db)
  const [found] = rows
  if (found === undefined) throw new Error('the database returned no limit after inserting or updating one')
  return found.purse_id
}

/** Changes the limit of today's cap if it has been opened. A limit of null removes it. */
export async function changeDailyCap(
  db: Db,
  orgId: string,
  subject: string,
  limitMillis: number | null,
): Promise<void> {
  await sql`update purses set limit_millis = ${limitMillis}::bigint
    where org_id = ${orgId} and subject = ${subject} and period_start = date_trunc('day', now(), 'UTC')`.execute(
    db,
  )
}

/** Changes the limit of a cap. A limit of null removes it. Held credits stay held. */
export async function changeCap(
  db: Db,
  orgId: string,
  limitId: string,
  limitMillis: number | null,
): Promise<void> {
  await db
    .updateTable('purses')
    .set({ limit_millis: limitMillis })
    .where('org_id', '=', orgId)
    .where('purse_id', '=', limitId)
    .execute()
}

/** The amount of the limit `p`, or null. A budget's limit takes it from the budget, and has none if the budget only warns. */
export const LIMIT_MILLIS = `(case p.kind when 'budget' then (select b.limit_millis from budgets b
  where b.org_id = p.org_id and b.budget_id = p.budget_id and b.mode = 'stop') else p.limit_millis end)`

/** The charges to the limit `p` that were held there and are not posted yet. */
export const LIMIT_UNPOSTED = `(select coalesce(sum(c.millis), 0)::bigint from purse_charges c
  where c.org_id = p.org_id and p.purse_id = any(c.purse_ids))`

/** Lists the current state of limits, including charges that are not posted yet. */
export async function listLimits(db: Db, orgId: string, limitIds: readonly string[]): Promise<LimitState[]> {
  const { rows } = await sql<LimitState>`
    select p.purse_id, p.kind, p.budget_id, p.period_start, ${sql.raw(LIMIT_MILLIS)} as limit,
      p.spent_millis + u.millis + ${LIMIT_LATE} as spent, p.granted_millis - u.millis as held, p.refused_at
    from purses p cross join lateral (select ${sql.raw(LIMIT_UNPOSTED)} as millis) u
    where p.org_id = ${orgId} and p.purse_id = any(${limitIds}::uuid[]) order by p.purse_id`.execute(db)
  return rows
}

const FORGOTTEN_AT_ONCE = 10_000

/**
 * Deletes caps of deleted runs and limits of deleted budgets. While its run exists, a cap is kept: it is shown with the run,
 * and Resume can raise it. Caps of a day or a cycle may still be used later and are kept for a month.
 */
export async function forgetLimits(db: Db): Promise<void> {
  await sql`
    delete from purses p using (
      select p.org_id, p.purse_id from purses p
      where p.granted_millis = 0
        and p.created_at < now() - case when p.subject is null then interval '1 day' else interval '30 days' end
        and not exists (select from purse_shares s where s.org_id = p.org_id and s.purse_id = p.purse_id)
        and not exists (select from purse_charges c where c.org_id = p.org_id and p.purse_id = any(c.purse_ids))
        and case p.kind
          when 'cap' then not exists (select from runs r where r.org_id = p.org_id and r.cap_purse_id = p.purse_id)
            and not exists (select from imports i where i.org_id = p.org_id and i.cap_purse_id = p.purse_id)
          else not exists (select from budgets b where b.org_id = p.org_id and b.budget_id = p.budget_id) end
      order by p.org_id, p.purse_id limit ${sql.lit(FORGOTTEN_AT_ONCE)} for update of p skip locked
    ) gone where p.org_id = gone.org_id and p.purse_id = gone.purse_id`.execute(db)
}
