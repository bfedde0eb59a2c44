import { sql } from 'kysely'
import { type Db, inTransaction } from '../connection/db.ts'
import { lockOrganisation } from '../organisation/organisations.ts'

/**
 * Purses are locked in the order of their ids, the organisation after them, shares last. Settlements lock flights and then
 * shares only, so nobody waits in a circle. Answers those that are there.
 */
export async function lockPurses(db: Db, orgId: string, purseIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ purse_id: string }>`
    select purse_id from purses where org_id = ${orgId} and purse_id = any(${purseIds}::uuid[])
    order by purse_id for no key update`.execute(db)
  await lockOrganisation(db, orgId)
  return rows.map(({ purse_id }) => purse_id)
}

/**
 * Makes ledger entries of what shares were spent on: it moves from granted to spent, and each entry gets its balance. Of all
 * holders, or of one. Whoever reads balance, ledger or usage folds first.
 */
export async function foldCharges(db: Db, orgId: string, holder: string | null = null): Promise<void> {
  const mine = sql`org_id = ${orgId} and (${holder}::text is null or holder = ${holder})`
  const { rows: found } = await sql<{ purse_ids: string[] | null }>`
    select array(select distinct p from purse_charges c, unnest(c.purse_ids) p where c.${mine}) as purse_ids
    where exists (select from purse_charges where ${mine})`.execute(db)
  const [unfolded] = found
  if (unfolded === undefined) return
  await inTransaction(db, async (trx) => {
    const locked = await lockPurses(trx, orgId, unfolded.purse_ids ?? [])
    await foldLocked(trx, orgId, { holder, purseIds: locked })
  })
}

/**
 * The same under the locks of these purses and of the organisation; charges of other purses stay. Ids of entries follow those
 * that are there, by the database's clock, so that the order of the ledger is that of its balances.
 */
async function foldLocked(
  trx: Db,
  orgId: string,
  { holder, purseIds }: { holder: string | null; purseIds: readonly string[] },
): Promise<void> {
  await sql`
    with gone as materialized (
      delete from purse_charges where org_id = ${orgId} and (${holder}::text is null or holder = ${holder})
        and purse_ids <@ ${purseIds}::uuid[]
      returning *
    ), purse as (
      update purses p set spent_millis = p.spent_millis + s.millis, granted_millis = p.granted_millis - s.millis
      from (select id, sum(g.millis) as millis from gone g, unnest(g.purse_ids) id group by id) s
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
    ), start as materialized (
      select greatest((extract(epoch from clock_timestamp()) * 1000)::bigint, 1 + coalesce((
        select ('x' || left(replace(entry_id::text, '-', ''), 12))::bit(48)::bigint
        from credit_entries where org_id = ${orgId} order by entry_id desc limit 1), 0)) as ms
    ), charge as materialized (
      select charge_id, at, entries, coalesce(facts->>'reason', 'cell') as reason, facts->'details' as details,
        facts->>'run_id' as run, (facts->>'run_id')::uuid as run_id, (facts->>'workflow_id')::uuid as workflow_id,
        (facts->>'sheet_id')::uuid as sheet_id, facts->>'member' as member, (facts->>'key_id')::uuid as key_id,
        facts->>'trigger' as trigger, (facts->>'price_version')::int as price_version
      from gone
    ), line as (
      select c.*, e.entry, (e.entry->>3)::bigint as millis, row_number() over w - 1 as n,
        sum((e.entry->>3)::bigint) over w as upto
      from charge c, jsonb_array_elements(c.entries) with ordinality as e (entry, place)
      window w as (order by c.charge_id, e.place)
    )
    insert into credit_entries (org_id, entry_id, at, amount_millis, balance_millis, reason, details, run_id, workflow_id,
      sheet_id, row_id, action, action_id, member, key_id, trigger, price_version, providers)
    select ${orgId}, (lpad(to_hex(start.ms + n / 4096), 12, '0') || '7' || lpad(to_hex(n % 4096), 3, '0') || 'a'
        || substr(gen_random_uuid()::text, 21))::uuid,
      at, -millis, paid.before - upto, reason,
      coalesce(details, jsonb_build_object('run_id', run, 'row_id', entry->0, 'action', entry->1)),
      run_id, workflow_id, sheet_id, (entry->>0)::uuid, entry->>1, entry->>2, member, key_id, trigger, price_version,
      coalesce(nullif(entry->4, 'null'), '[]')
    from paid, start, line`.execute(trx)
}

/**
 * Ends the shares of a holder in an organisation: it is gone, or starts anew. What it spent is folded, the rest goes back. Its
 * settlements that are under way come before; later ones find no share and write nothing.
 */
export async function endShares(db: Db, orgId: string, holder: string): Promise<void> {
  await inTransaction(db, async (trx) => {
    const { rows } = await sql<{ purse_id: string }>`
      select purse_id from purse_shares where org_id = ${orgId} and holder = ${holder}`.execute(trx)
    const purseIds = await lockPurses(
      trx,
      orgId,
      rows.map(({ purse_id }) => purse_id),
    )
    await sql`select from purse_shares where org_id = ${orgId} and holder = ${holder}
      order by purse_id for update`.execute(trx)
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
