import { type Selectable, sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { Schema } from '../../database/connection/schema.ts'
import { LATEST_PRICES } from './price-versions.ts'
import { foldCharges } from './purses/fold.ts'

export type LedgerRecord = Selectable<Schema['ledger_entries']>

/** Whose entries: all of the organisation, or those of a member's own doing and of the workflows they may use. */
export type LedgerReach = {
  member: { email: string; id: string } | null
  workflows: ReadonlySet<string> | null
}

export type LedgerPage = {
  /** Inclusive. */
  from: Date | null
  /** Exclusive. */
  before: Date | null
  type: LedgerRecord['type'] | null
  runId: string | null
  workflowId: string | null
  /** The entry that the page before ended with. */
  after: string | null
  limit: number
}

/** A page of the ledger, newest entry first. All that it is asked by is the same for the entries of a block. */
export async function listLedger(
  db: Db,
  orgId: string,
  { member, workflows }: LedgerReach,
  { from, before, type, runId, workflowId, after, limit }: LedgerPage,
): Promise<LedgerRecord[]> {
  await foldCharges(db, orgId)
  const conditions = [
    sql`org_id = ${orgId}`,
    ...(from === null ? [] : [sql`at >= ${from}`]),
    ...(before === null ? [] : [sql`at < ${before}`]),
    ...(runId === null ? [] : [sql`run_id = ${runId}`]),
    ...(workflowId === null ? [] : [sql`workflow_id = ${workflowId}`]),
    ...(workflows === null ? [] : [sql`workflow_id = any(${[...workflows]}::uuid[])`]),
    ...(member === null ? [] : [ofMember(orgId, member)]),
  ]
  const where = sql.join(conditions, sql` and `)
  const isOfType = type === null ? sql`true` : sql`type = ${type}`
  const isBefore = after === null ? sql`true` : sql`entry_id < ${after}`
  const beginsBefore = after === null ? sql`true` : sql`first_id < ${after}`
  // The first block may end behind the cursor: whatever it has of entries, as many as asked for are in those after it.
  const { rows } = await sql<LedgerRecord>`
    with block as materialized (
      select last_id, sum(entries) over newer - first_value(entries) over newer - entries as enough from (
        select last_id, entries from credit_blocks
        where ${where} and ${beginsBefore} and ${type === null || type === 'charge'}::boolean
        order by last_id desc limit ${sql.lit(limit + 1)}
      ) newest window newer as (order by last_id desc)
    )
    select ${LEDGER_COLUMNS} from (
      (select ${LEDGER_COLUMNS} from credit_entries where ${where} and ${isBefore} and ${isOfType}
        order by entry_id desc limit ${sql.lit(limit)})
      union all
      (select ${LEDGER_COLUMNS} from block_entries where org_id = ${orgId} and ${isBefore}
        and block_id = any(array(select last_id from block where enough < ${limit}))
        order by entry_id desc limit ${sql.lit(limit)})
    ) page order by entry_id desc limit ${sql.lit(limit)}`.execute(db)
  return rows
}

/** Of an entry, wherever it is. */
export const LEDGER_COLUMNS =
  sql.raw(`org_id, entry_id, at, amount_millis, balance_millis, reason, details, type, run_id, workflow_id, sheet_id,
  row_id, action, action_id, member, key_id, trigger, refund_of, price_version, providers`)

/** What members may see: what they started, and what their workflows cost. */
export const ofMember = (orgId: string, { email, id }: { email: string; id: string }) =>
  sql<boolean>`(member = ${email} or workflow_id in (select w.workflow_id from workflows w
    where w.org_id = ${orgId} and (w.owner_id = ${id} or exists (select from workflow_shares h
      where h.org_id = w.org_id and h.workflow_id = w.workflow_id and h.member_id = ${id}))))`

export type Overview = {
  balance: number
  held: number
  today: number
  month: number
  prices: number
}

/**
 * What there is, what is set aside, and what was spent of late, in thousandths; days and months are UTC. Set aside is what
 * running cells hold, of the shares that their workers have, and what pulls and agent runs do.
 */
export async function getOverview(db: Db, orgId: string): Promise<Overview | undefined> {
  await foldCharges(db, orgId)
  const spentSince = (
    unit: 'day' | 'month',
  ) => sql<number>`(select coalesce(sum(credits_millis - refunded_millis), 0)::bigint
    from usage_charges u where u.org_id = o.org_id and u.day >= date_trunc(${unit}, now() at time zone 'UTC')::date)`
  const { rows } = await sql<Overview>`
    select credits_millis as balance, least(held_millis, held_millis
        - (select coalesce(sum(granted_millis), 0) from purse_shares s where s.org_id = o.org_id and s.purse_id = o.org_id and not s.lasting)
        + (select coalesce(sum(held_millis), 0) from run_holds h where h.org_id = o.org_id))::bigint as held, ${spentSince('day')} as today, ${spentSince('month')} as month,
      ${LATEST_PRICES} as prices
    from organisations o where org_id = ${orgId}`.execute(db)
  return rows[0]
}
