import { sql } from 'kysely'
import { type Db, inTransaction } from '../../../database/connection/db.ts'
import { LATE_PURSES } from './budget-matches.ts'
import { lockPurses } from './purse-locks.ts'

/** The purses that the charge `c` is counted in, beside the balance. */
const COUNTED_IN = sql`c.purse_ids || ${LATE_PURSES}`

const chargesOf = (orgId: string, holder: string | null) =>
  holder === null ? sql`c.org_id = ${orgId}` : sql`c.org_id = ${orgId} and c.holder = ${holder}`

/**
 * Enters in the ledger what shares were spent on: it moves from granted to spent, and gets its balance. Of all holders, or of
 * one. Whoever reads balance, ledger or usage folds first.
 */
export async function foldCharges(db: Db, orgId: string, holder: string | null = null): Promise<void> {
  const mine = chargesOf(orgId, holder)
  const { rows: found } = await sql<{ purse_ids: string[] }>`
    select array(select distinct p from purse_charges c, unnest(${COUNTED_IN}) p where ${mine}) as purse_ids
    where exists (select from purse_charges c where ${mine})`.execute(db)
  const [unfolded] = found
  if (unfolded === undefined) return
  await inTransaction(db, async (trx) => {
    const locked = await lockPurses(trx, orgId, unfolded.purse_ids)
    await foldLocked(trx, orgId, { holder, purseIds: locked })
  })
}

/**
 * The same under the locks of these purses and of the organisation; charges of other purses stay. Charges that were settled
 * together become one block. Ids of entries follow those that are there, by the database's clock, so that the order of the
 * ledger is that of its balances.
 */
async function foldLocked(
  trx: Db,
  orgId: string,
  { holder, purseIds }: { holder: string | null; purseIds: readonly string[] },
): Promise<void> {
  await sql`
    with due as materialized (
      select c.charge_id, ${COUNTED_IN} as counted_in from purse_charges c
      where ${chargesOf(orgId, holder)}
    ), gone as materialized (
      delete from purse_charges c using due where c.org_id = ${orgId} and c.charge_id = due.charge_id
        and due.counted_in <@ ${purseIds}::uuid[]
      returning c.*, due.counted_in
    ), purse as (
      update purses p set spent_millis = p.spent_millis + s.spent, granted_millis = p.granted_millis - s.granted
      from (select id, sum(g.millis) as spent, coalesce(sum(g.millis) filter (where id = any(g.purse_ids)), 0) as granted
        from gone g, unnest(g.counted_in) id group by id) s
      where p.org_id = ${orgId} and p.purse_id = s.id
    ), share as (
      update purse_shares h set granted_millis = h.granted_millis - s.millis
      from (select g.holder, id, sum(g.millis) as millis
        from gone g, unnest(array_append(g.purse_ids, g.org_id)) id group by g.holder, id) s
      where h.org_id = ${orgId} and h.purse_id = s.id and h.holder = s.holder
    ), paid as (
      update organisations o set credits_millis = o.credits_millis - s.millis, held_millis = o.held_millis - s.millis
      from (select sum(millis) as millis from gone having count(*) > 0) s
      where o.org_id = ${orgId} returning o.credits_millis + s.millis as before
    ), latest as (
      (select entry_id from credit_entries where org_id = ${orgId} order by entry_id desc limit 1)
      union all (select last_id from credit_blocks where org_id = ${orgId} order by last_id desc limit 1)
    ), start as materialized (
      select greatest((extract(epoch from clock_timestamp()) * 1000)::bigint, 1 + coalesce((
        select max(('x' || left(replace(entry_id::text, '-', ''), 12))::bit(48)::bigint) from latest), 0)) as ms
    ), block as (
      select g.*, cardinality(g.kind_of) as entries, sum(g.millis) over w as upto,
        start.ms * 4096 + sum(cardinality(g.kind_of)) over w - cardinality(g.kind_of) as no
      from gone g, start window w as (order by g.charge_id)
    ), placed as materialized (
      select b.*, (lpad(to_hex((no / 4096)::bigint), 12, '0') || '7' || lpad(to_hex((no % 4096)::bigint), 3, '0') || 'a'
        || substr(gen_random_uuid()::text, 21))::uuid as first_id
      from block b
    )
    insert into credit_blocks (org_id, first_id, last_id, entries, at, millis, balance_millis, purse_ids, reason, details, run_id,
      workflow_id, sheet_id, member, key_id, trigger, price_version, kinds, row_ids, kind_of)
    select ${orgId}, first_id, loam_later_entry(first_id, entries - 1), entries, at, millis, paid.before - upto, counted_in,
      coalesce(facts->>'reason', 'cell'), facts->'details', (facts->>'run_id')::uuid, (facts->>'workflow_id')::uuid,
      (facts->>'sheet_id')::uuid, facts->>'member', (facts->>'key_id')::uuid, facts->>'trigger', (facts->>'price_version')::int,
      kinds, row_ids, kind_of
    from paid, placed`.execute(trx)
}

/**
 * Ends the shares of a holder in an organisation: it is gone, or starts anew. What it spent is folded, the rest goes back. Its
 * settlements that are under way come before; later ones find no share and write nothing.
 */
export async function endShares(db: Db, orgId: string, holder: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    const { rows } = await sql<{ purse_id: string }>`
      select purse_id from purse_shares where org_id = ${orgId} and holder = ${holder}
      union select p from purse_charges c, unnest(${COUNTED_IN}) p where c.org_id = ${orgId} and c.holder = ${holder}`.execute(
      trx,
    )
    const locked = await lockPurses(
      trx,
      orgId,
      rows.map(({ purse_id }) => purse_id),
    )
    await sql`select from purse_shares where org_id = ${orgId} and holder = ${holder}
      order by purse_id for update`.execute(trx)
    const purseIds = [...locked, ...(await lockLatePurses(trx, orgId, holder, locked))]
    await foldLocked(trx, orgId, { holder, purseIds })
    await sql`
      with gone as (
        delete from purse_shares where org_id = ${orgId} and holder = ${holder} returning purse_id, granted_millis
      ), purse as (
        update purses p set granted_millis = p.granted_millis - g.granted_millis
        from gone g where p.org_id = ${orgId} and p.purse_id = g.purse_id
      ), forgotten as (
        delete from run_holds where org_id = ${orgId} and holder = ${holder}
      )
      update organisations o set held_millis = o.held_millis - g.granted_millis
      from gone g where o.org_id = ${orgId} and g.purse_id = o.org_id`.execute(trx)
  })
}

/**
 * Purses of budgets that are as new as the charges of a settlement that was under way. They come after the organisation, which is
 * the wrong order: so nobody is waited for, and where one is locked the caller tries again.
 */
async function lockLatePurses(
  trx: Db,
  orgId: string,
  holder: string,
  locked: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ purse_id: string }>`
    select purse_id from purses where org_id = ${orgId} and purse_id = any(array(
      select p from purse_charges c, unnest(${LATE_PURSES}) p where c.org_id = ${orgId} and c.holder = ${holder}
        and p <> all(${locked}::uuid[])))
    order by purse_id for no key update nowait`.execute(trx)
  return rows.map(({ purse_id }) => purse_id)
}

/** Holders that are no more, with the organisations in which they have shares. */
export async function listDeadHolders(db: Db): Promise<{ org_id: string; holder: string }[]> {
  const { rows } = await sql<{ org_id: string; holder: string }>`
    select distinct org_id, holder from purse_shares s
    where not lasting and not exists (select from workers w where w.worker_id = s.holder)`.execute(db)
  return rows
}

/** A holder that has no share any more is no longer listed among those who live. */
export async function forgetHolder(db: Db, holder: string): Promise<void> {
  await sql`delete from workers where worker_id = ${holder}`.execute(db)
}
