import { sql } from 'kysely'
import { type Db, inTransaction } from '../../../database/connection/db.ts'
import { LATE_LIMITS } from './budget-matches.ts'
import { lockLimits } from './limit-locks.ts'

/** The limits that count the charge `c`, beside the balance. */
const COUNTED_IN = sql`c.purse_ids || ${LATE_LIMITS}`

const selectCharges = (orgId: string, holder: string | null) =>
  holder === null ? sql`c.org_id = ${orgId}` : sql`c.org_id = ${orgId} and c.holder = ${holder}`

/**
 * Posts charges: enters what was spent of leases in the ledger, moves it from granted to spent, and gives it its balance. It
 * does so for all holders or for one. Call it before reading balance, ledger or usage.
 */
export async function postCharges(db: Db, orgId: string, holder: string | null = null): Promise<void> {
  const isSelected = selectCharges(orgId, holder)
  const { rows: found } = await sql<{ purse_ids: string[] }>`
    select array(select distinct p from purse_charges c, unnest(${COUNTED_IN}) p where ${isSelected}) as purse_ids
    where exists (select from purse_charges c where ${isSelected})`.execute(db)
  const [unposted] = found
  if (unposted === undefined) return
  await inTransaction(db, async (trx) => {
    const locked = await lockLimits(trx, orgId, unposted.purse_ids)
    await postLocked(trx, orgId, { holder, limitIds: locked })
  })
}

/**
 * Posts charges under the locks of these limits and of the organisation. Charges of other limits stay. Charges that were
 * settled together become one block. Ids of entries follow the existing ids, by the database's clock, so that the order of
 * the ledger is the order of its balances.
 */
async function postLocked(
  trx: Db,
  orgId: string,
  { holder, limitIds }: { holder: string | null; limitIds: readonly string[] },
): Promise<void> {
  await sql`
    with due as materialized (
      select c.charge_id, ${COUNTED_IN} as counted_in from purse_charges c
      where ${selectCharges(orgId, holder)}
    ), gone as materialized (
      delete from purse_charges c using due where c.org_id = ${orgId} and c.charge_id = due.charge_id
        and due.counted_in <@ ${limitIds}::uuid[]
      returning c.*, due.counted_in
    ), counted as (
      update purses p set spent_millis = p.spent_millis + s.spent, granted_millis = p.granted_millis - s.granted
      from (select id, sum(g.millis) as spent, coalesce(sum(g.millis) filter (where id = any(g.purse_ids)), 0) as granted
        from gone g, unnest(g.counted_in) id group by id) s
      where p.org_id = ${orgId} and p.purse_id = s.id
    ), lease as (
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
 * Ends the leases of a holder in an organisation, because the holder is dead or starts again. Its charges are posted and the
 * rest is given back. Settlements in flight come before; later ones find no lease and write nothing.
 */
export async function endLeases(db: Db, orgId: string, holder: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    const { rows } = await sql<{ purse_id: string }>`
      select purse_id from purse_shares where org_id = ${orgId} and holder = ${holder}
      union select p from purse_charges c, unnest(${COUNTED_IN}) p where c.org_id = ${orgId} and c.holder = ${holder}`.execute(
      trx,
    )
    const locked = await lockLimits(
      trx,
      orgId,
      rows.map(({ purse_id }) => purse_id),
    )
    await sql`select from purse_shares where org_id = ${orgId} and holder = ${holder}
      order by purse_id for update`.execute(trx)
    const limitIds = [...locked, ...(await lockLateLimits(trx, orgId, holder, locked))]
    await postLocked(trx, orgId, { holder, limitIds })
    await sql`
      with gone as (
        delete from purse_shares where org_id = ${orgId} and holder = ${holder} returning purse_id, granted_millis
      ), counted as (
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
 * Locks the limits of budgets that are as new as the charges of a settlement in flight. They are locked after the
 * organisation, which is the wrong order. So this does not wait: if one of them is locked, it throws and the caller tries
 * again.
 */
async function lockLateLimits(
  trx: Db,
  orgId: string,
  holder: string,
  locked: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ purse_id: string }>`
    select purse_id from purses where org_id = ${orgId} and purse_id = any(array(
      select p from purse_charges c, unnest(${LATE_LIMITS}) p where c.org_id = ${orgId} and c.holder = ${holder}
        and p <> all(${locked}::uuid[])))
    order by purse_id for no key update nowait`.execute(trx)
  return rows.map(({ purse_id }) => purse_id)
}

/** Lists dead holders, with the organisations in which they have leases. */
export async function listDeadHolders(db: Db): Promise<{ org_id: string; holder: string }[]> {
  const { rows } = await sql<{ org_id: string; holder: string }>`
    select distinct org_id, holder from purse_shares s
    where not lasting and not exists (select from workers w where w.worker_id = s.holder)`.execute(db)
  return rows
}

/** Removes a holder without leases from the list of live workers. */
export async function forgetHolder(db: Db, holder: string): Promise<void> {
  await sql`delete from workers where worker_id = ${holder}`.execute(db)
}
