import { type Selectable, sql, type Updateable } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { takeNamedLock } from '../../database/connection/locks.ts'
import type { Schema } from '../../database/connection/schema.ts'
import type { LedgerReach } from './ledger.ts'

export type BudgetRecord = Selectable<Schema['budgets']>

/**
 * Lists budgets, newest first. Members see those of the organisation, of themselves, of their keys and of their workflows.
 */
export async function listBudgets(
  db: Db,
  orgId: string,
  member: LedgerReach['member'],
): Promise<BudgetRecord[]> {
  const seen = member === null ? sql<boolean>`true` : isVisibleTo(orgId, member)
  return db
    .selectFrom('budgets')
    .selectAll()
    .where('org_id', '=', orgId)
    .where(seen)
    .orderBy('budget_id', 'desc')
    .execute()
}

const isVisibleTo = (orgId: string, { id, email }: NonNullable<LedgerReach['member']>) => sql<boolean>`(
  scope = 'organisation' or (scope = 'member' and subject = ${email})
  or (scope = 'key' and exists (select from api_keys k where k.org_id = ${orgId} and k.key_id::text = subject
    and k.member_id = ${id}))
  or exists (select from workflows w where w.org_id = ${orgId} and (w.owner_id = ${id} or exists (
      select from workflow_shares h where h.org_id = ${orgId} and h.workflow_id = w.workflow_id and h.member_id = ${id}))
    and ((scope = 'workflow' and w.workflow_id::text = subject) or (scope = 'sheet' and exists (
      select from sheets s where s.org_id = ${orgId} and s.workflow_id = w.workflow_id and s.sheet_id::text = subject)))))`

export async function findBudget(db: Db, orgId: string, budgetId: string): Promise<BudgetRecord | undefined> {
  return db
    .selectFrom('budgets')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('budget_id', '=', budgetId)
    .executeTakeFirst()
}

/**
 * Counts the budgets. Transactions that count wait for each other until they commit, so the count stays true. Call it in a
 * transaction.
 */
export async function countBudgets(trx: Db, orgId: string): Promise<number> {
  await takeNamedLock(trx, `budgets of ${orgId}`)
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from budgets where org_id = ${orgId}`.execute(trx)
  return rows[0]?.count ?? 0
}

/** Inserts a budget. Returns undefined if one with the same scope, subject, trigger and period already exists. */
export async function insertBudget(
  db: Db,
  budget: Omit<BudgetRecord, 'created_at'>,
): Promise<BudgetRecord | undefined> {
  return db
    .insertInto('budgets')
    .values(budget)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
}

export type BudgetChange = Pick<
  Updateable<Schema['budgets']>,
  'name' | 'limit_millis' | 'mode' | 'thresholds' | 'emails' | 'webhook_url'
>

/**
 * Changes a budget, and creates alerts for thresholds that its current periods have already passed under the new limit. A
 * refusal under the old limit does not apply to the new one. Call it in a transaction.
 */
export async function updateBudget(
  db: Db,
  orgId: string,
  budgetId: string,
  change: BudgetChange,
): Promise<BudgetRecord | undefined> {
  const changed = await db
    .updateTable('budgets')
    .set(change)
    .where('org_id', '=', orgId)
    .where('budget_id', '=', budgetId)
    .returningAll()
    .executeTakeFirst()
  if (change.limit_millis !== undefined || change.thresholds !== undefined)
    await sql`with present as (
        select purse_id from purses p where p.org_id = ${orgId} and p.budget_id = ${budgetId}
          and p.period_start is not distinct from (select max(period_start) from purses
            where org_id = ${orgId} and budget_id = ${budgetId})
        order by purse_id for no key update
      )
      update purses p set refused_at = null from present
      where p.org_id = ${orgId} and p.purse_id = present.purse_id`.execute(db)
  return changed
}

export async function deleteBudget(db: Db, orgId: string, budgetId: string): Promise<boolean> {
  const deleted = await db
    .deleteFrom('budgets')
    .where('org_id', '=', orgId)
    .where('budget_id', '=', budgetId)
    .executeTakeFirst()
  return deleted.numDeletedRows > 0n
}

/** Returns true if the subject of a budget exists. */
export async function hasSubject(
  db: Db,
  orgId: string,
  scope: BudgetRecord['scope'],
  subject: string,
): Promise<boolean> {
  const found = {
    organisation: sql`true`,
    member: sql`exists (select from members where org_id = ${orgId} and email = ${subject})`,
    key: sql`exists (select from api_keys where org_id = ${orgId} and key_id::text = ${subject} and revoked_at is null)`,
    workflow: sql`exists (select from workflows where org_id = ${orgId} and workflow_id::text = ${subject} and deleted_at is null)`,
    sheet: sql`exists (select from sheets where org_id = ${orgId} and sheet_id::text = ${subject} and deleted_at is null)`,
  }[scope]
  const { rows } = await sql<{ found: boolean }>`select ${found} as found`.execute(db)
  return rows[0]?.found === true
}

export async function listAdminEmails(db: Db, orgId: string): Promise<string[]> {
  const admins = await db
    .selectFrom('members')
    .select('email')
    .where('org_id', '=', orgId)
    .where('role', '=', 'admin')
    .orderBy('joined_at')
    .execute()
  return admins.map(({ email }) => email)
}

export type BudgetPeriod = {
  period_start: Date | null
  period_end: Date | null
  alerts: { threshold: number; at: Date }[]
}

/**
 * Reads the current period of a budget, by the database's clock, and its alerts. For a budget that counts runs, these are the
 * latest alerts.
 */
export async function readPeriod(
  db: Db,
  { org_id, budget_id, period }: Pick<BudgetRecord, 'org_id' | 'budget_id' | 'period'>,
): Promise<BudgetPeriod> {
  const unit = period === 'day' || period === 'month' ? period : null
  const { rows } = await sql<{ period_start: Date | null; period_end: Date | null }>`
    select date_trunc(${unit}, now(), 'UTC') as period_start,
      date_trunc(${unit}, now(), 'UTC') + ('1 ' || ${unit})::interval as period_end`.execute(db)
  const { period_start = null, period_end = null } = rows[0] ?? {}
  const { rows: alerts } = await sql<{ threshold: number; at: Date }>`
    select threshold, at from budget_alerts where org_id = ${org_id} and budget_id = ${budget_id}
      and (${period} = 'run' or period_start is not distinct from ${period_start}::timestamptz)
    order by at desc, threshold desc limit 100`.execute(db)
  return { period_start, period_end, alerts: alerts.toReversed() }
}
