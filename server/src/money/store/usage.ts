import { type RawBuilder, sql } from 'kysely'
import type { UsageGroup } from '#contract/usage.ts'
import type { Db } from '../../database/connection/db.ts'
import { type LedgerReach, isVisibleToMember } from './ledger.ts'
import { postCharges } from './limits/posting.ts'

/** The sums of usage. Credits are in thousandths; `cells` fields are counts. */
export type UsageFigures = {
  cells: number
  cells_billed: number
  cells_cached: number
  credits: number
  refunded: number
  saved_by_cache: number
  saved_by_own_keys: number
}

export type UsageRecord = UsageFigures & Partial<Record<string, string | number | null>>

export type UsageFilters = {
  workflowId: string | undefined
  actionId: string | undefined
  provider: string | undefined
  member: string | undefined
  keyId: string | undefined
  trigger: string | undefined
}

export type UsageRequest = {
  from: string
  to: string
  groups: readonly UsageGroup[]
  filters: UsageFilters
  limit: number
}

/** The column of each group in the result, which is also sorted by it. */
const COLUMNS: Record<UsageGroup, { name: string; value: RawBuilder<unknown> }> = {
  day: { name: 'day', value: sql`u.day` },
  month: { name: 'month', value: sql`to_char(u.day, 'YYYY-MM')` },
  workflow: { name: 'workflow_id', value: sql`u.workflow_id` },
  sheet: { name: 'sheet_id', value: sql`u.sheet_id` },
  action: { name: 'action_id', value: sql`u.action_id` },
  provider: { name: 'provider', value: sql`u.provider` },
  member: { name: 'member', value: sql`u.member` },
  key: { name: 'key_id', value: sql`u.key_id` },
  trigger: { name: 'trigger', value: sql`u.trigger` },
}

/** Returns today's date by the database's clock, which counts the days (UTC). */
export async function getToday(db: Db): Promise<string> {
  const { rows } = await sql<{ day: string }>`select (now() at time zone 'UTC')::date as day`.execute(db)
  return rows[0]?.day ?? ''
}

/** Lists usage by groups, and the totals. It reads sums of days only, so its cost does not depend on the number of cells. */
export async function listUsage(
  db: Db,
  orgId: string,
  { member, workflows }: LedgerReach,
  { from, to, groups, filters, limit }: UsageRequest,
): Promise<{ rows: UsageRecord[]; totals: UsageFigures }> {
  await postCharges(db, orgId)
  const conditions = [
    sql`u.org_id = ${orgId} and u.day between ${from}::date and ${to}::date`,
    ...(filters.workflowId === undefined ? [] : [sql`u.workflow_id = ${filters.workflowId}::uuid`]),
    ...(filters.actionId === undefined ? [] : [sql`u.action_id = ${filters.actionId}`]),
    ...(filters.provider === undefined ? [] : [sql`u.provider = ${filters.provider}`]),
    ...(filters.member === undefined ? [] : [sql`u.member = ${filters.member}`]),
    ...(filters.keyId === undefined ? [] : [sql`u.key_id = ${filters.keyId}::uuid`]),
    ...(filters.trigger === undefined ? [] : [sql`u.trigger = ${filters.trigger}`]),
    ...(workflows === null ? [] : [sql`u.workflow_id = any(${[...workflows]}::uuid[])`]),
    ...(member === null ? [] : [isVisibleToMember(orgId, member)]),
  ]
  const where = sql.join(conditions, sql` and `)
  const columns = groups.map((group) => COLUMNS[group])
  const keys = sql.join(columns.map(({ value }) => value))
  const names = sql.join(columns.map(({ name }) => sql.ref(name)))
  const named = groups.includes('workflow')
    ? sql`, coalesce((select w.name from workflows w where w.org_id = ${orgId} and w.workflow_id = g.workflow_id),
        (select n.name from workflow_names n where n.org_id = ${orgId} and n.workflow_id = g.workflow_id)) as workflow_name`
    : sql``
  const { rows } = await sql<UsageRecord & { is_total: number }>`
    with part as (
      select ${keys}, cells, cells_billed, cells_cached, 0 as credits, 0 as refunded,
        saved_by_cache_millis, saved_by_own_keys_millis from usage_cells u where ${where}
      union all
      select ${keys}, 0, 0, 0, credits_millis, refunded_millis, 0, 0 from usage_charges u where ${where}
    ), named (${names}, cells, cells_billed, cells_cached, credits, refunded, saved_by_cache, saved_by_own_keys) as (
      select * from part
    ), g as (
      select ${names}, grouping(${names}) > 0 as is_total, ${SUMS} from named group by grouping sets ((${names}), ())
      order by is_total desc, ${names} limit ${sql.lit(limit + 1)}
    )
    select g.*${named} from g order by is_total desc, ${names}`.execute(db)
  const totals = rows.find(({ is_total }) => is_total) ?? NOTHING
  return { rows: rows.filter(({ is_total }) => !is_total), totals }
}

const SUMS = sql`coalesce(sum(cells), 0)::bigint as cells, coalesce(sum(cells_billed), 0)::bigint as cells_billed,
  coalesce(sum(cells_cached), 0)::bigint as cells_cached, coalesce(sum(credits), 0)::bigint as credits,
  coalesce(sum(refunded), 0)::bigint as refunded, coalesce(sum(saved_by_cache), 0)::bigint as saved_by_cache,
  coalesce(sum(saved_by_own_keys), 0)::bigint as saved_by_own_keys`

const NOTHING: UsageFigures = {
  cells: 0,
  cells_billed: 0,
  cells_cached: 0,
  credits: 0,
  refunded: 0,
  saved_by_cache: 0,
  saved_by_own_keys: 0,
}
