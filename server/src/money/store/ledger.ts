import { type Selectable, sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { Schema } from '../../database/connection/schema.ts'
import { postCharges } from './limits/posting.ts'
import { LATEST_PRICES } from './price-versions.ts'

export type LedgerRecord = Selectable<Schema['ledger_entries']>

/**
 * The visible entries: all of the organisation (`member` null), or those that a member caused and those of the workflows that
 * they may use.
 */
export type LedgerReach = {
  member: { email: string; id: string } | null
  workflows: ReadonlySet<string> | null
}

export type LedgerPage = {
  /** The first moment, inclusive. */
  from: Date | null
  /** The end, exclusive. */
  before: Date | null
  type: LedgerRecord['type'] | null
  runId: string | null
  workflowId: string | null
  /** The last entry of the previous page. */
  after: string | null
  limit: number
}

/** Lists a page of the ledger, newest entry first. All conditions are equal for the entries of one block. */
export async function listLedger(
  db: Db,
  orgId: string,
  { member, workflows }: LedgerReach,
  { from, before, type, runId, workflowId, after, limit }: LedgerPage,
): Promise<LedgerRecord[]> {
  await postCharges(db, orgId)
  const conditions = [
    sql`org_id = ${orgId}`,
    ...(from === null ? [] : [sql`at >= ${from}`]),
    ...(before === null ? [] : [sql`at < ${before}`]),
    ...(runId === null ? [] : [sql`run_id = ${runId}`]),
    ...(workflowId === null ? [] : [sql`workflow_id = ${workflowId}`]),
    ...(workflows === null ? [] : [sql`workflow_id = any(${[...workflows]}::uuid[])`]),
    ...(member === null ? [] : [isVisibleToMember(orgId, member)]),
  ]
  const where = sql.join(conditions, sql` and `)
  const isOfType = type === null ? sql`true` : sql`type = ${type}`
  const isBefore = after === null ? sql`true` : sql`entry_id < ${after}`
  const beginsBefore = after === null ? sql`true` : sql`first_id < ${after}`
  // The first block may end after the cursor. Whatever entries it has, the blocks after it hold as many as the page needs.
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

/** The columns of an entry, whether it is stored in a block or not. */
export const LEDGER_COLUMNS =
  sql.raw(`org_id, entry_id, at, amount_millis, balance_millis, reason, details, type, run_id, workflow_id, sheet_id,
  row_id, action, action_id, member, key_id, trigger, refund_of, price_version, providers`)

/** Returns the condition for what a member may see: what they started, and the cost of their workflows. */
export const isVisibleToMember = (orgId: string, { email, id }: { email: string; id: string }) =>
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
 * Reads the balance, the reserved credits and the recent spending, in thousandths; days and months are UTC. Reserved is what
 * running cells hold of their workers' shares, and what pulls and agent runs hold.
 */
export async function getOverview(db: Db, orgId: string): Promise<Overview | undefined> {
  await postCharges(db, orgId)
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
