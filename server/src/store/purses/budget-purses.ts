import { sql } from 'kysely'
import { newId } from '../../lib/ids.ts'
import type { Db } from '../connection/db.ts'
import { listPurses, type PurseState } from './purses.ts'

/**
 * Who spends, by which budgets are found. A budget is a record of `budgets` and no more: which purses a run draws on is
 * computed from scope, subject, trigger and period, again each second while it runs. A purse counts one period of a budget, and
 * is opened by whoever needs it first, with what the ledger has of that period.
 */
export type Spender = {
  org_id: string
  run_id: string | null
  /** Email; of what nobody started, that of the workflow's owner. */
  member: string | null
  key_id: string | null
  workflow_id: string | null
  sheet_id: string | null
  trigger: string
}

/** Where the period of the budget `b` began that is now. */
const PERIOD_START = sql`case b.period when 'day' then date_trunc('day', now(), 'UTC')
  when 'month' then date_trunc('month', now(), 'UTC') end`

/** The purses of all budgets that count what the spender spends now. */
export async function findBudgetPurses(db: Db, spender: Spender): Promise<string[]> {
  const { org_id, run_id, member, key_id, workflow_id, sheet_id, trigger } = spender
  const { rows } = await sql<{ budget_id: string; purse_id: string | null }>`
    select b.budget_id, p.purse_id from budgets b
    left join purses p on p.org_id = b.org_id and p.budget_id = b.budget_id
      and p.period_start is not distinct from ${PERIOD_START}
      and p.run_id is not distinct from case b.period when 'run' then ${run_id}::uuid end
    where b.org_id = ${org_id} and (b.trigger is null or b.trigger = ${trigger}) and case b.scope
      when 'organisation' then true when 'member' then b.subject = ${member} when 'key' then b.subject = ${key_id}
      when 'workflow' then b.subject = ${workflow_id} else b.subject = ${sheet_id} end
      and (b.period <> 'run' or ${run_id}::uuid is not null)
    order by b.budget_id`.execute(db)
  const found: string[] = []
  for (const { budget_id, purse_id } of rows) {
    const id = purse_id ?? (await openPurse(db, { org_id, budget_id, run_id }))
    if (id !== null) found.push(id)
  }
  return found
}

/** What a budget has of its present period; null for one that counts runs, or is gone. */
export async function getBudgetPurse(db: Db, orgId: string, budgetId: string): Promise<PurseState | null> {
  const id = await openPurse(db, { org_id: orgId, budget_id: budgetId, run_id: null })
  if (id === null) return null
  return (await listPurses(db, orgId, [id]))[0] ?? null
}

type Period = { org_id: string; budget_id: string; run_id: string | null }

/**
 * The purse of the present period. What was spent of it is read of one snapshot: charges move from where they wait into the
 * ledger in one transaction. What cells hold at that moment, and spend later, is not in it.
 */
async function openPurse(db: Db, { org_id, budget_id, run_id }: Period): Promise<string | null> {
  const find = async () => {
    const { rows } = await sql<{ purse_id: string }>`
      select p.purse_id from budgets b join purses p on p.org_id = b.org_id and p.budget_id = b.budget_id
        and p.period_start is not distinct from ${PERIOD_START}
        and p.run_id is not distinct from case b.period when 'run' then ${run_id}::uuid end
      where b.org_id = ${org_id} and b.budget_id = ${budget_id}`.execute(db)
    return rows[0]?.purse_id ?? null
  }
  const known = await find()
  if (known !== null) return known
  await sql`
    insert into purses (org_id, purse_id, kind, budget_id, period_start, run_id, spent_millis)
    select b.org_id, ${newId()}::uuid, 'budget', b.budget_id, ${PERIOD_START},
      case b.period when 'run' then ${run_id}::uuid end,
      ${spentOf({ org_id, run_id })}
    from budgets b where b.org_id = ${org_id} and b.budget_id = ${budget_id}
      and (b.period <> 'run' or ${run_id}::uuid is not null)
    on conflict (org_id, budget_id, period_start, run_id) where budget_id is not null do nothing`.execute(db)
  return find()
}

/** What the ledger has of the present period of the budget `b`, with what is on its way there. */
const spentOf = ({
  org_id,
  run_id,
}: Omit<Period, 'budget_id'>) => sql`(select coalesce(sum(e.millis), 0) from (
          select -amount_millis as millis, at, run_id, workflow_id::text, sheet_id::text, member, key_id::text, trigger
          from credit_entries where org_id = ${org_id} and type = 'charge'
          union all
          select millis, at, (facts->>'run_id')::uuid, facts->>'workflow_id', facts->>'sheet_id', facts->>'member',
            facts->>'key_id', facts->>'trigger'
          from purse_charges where org_id = ${org_id}) e
        where (b.period <> 'run' or e.run_id = ${run_id}::uuid)
          and (${PERIOD_START} is null or e.at >= ${PERIOD_START})
          and (b.trigger is null or e.trigger = b.trigger)
          and case b.scope when 'organisation' then true when 'member' then e.member = b.subject
            when 'key' then e.key_id = b.subject when 'workflow' then e.workflow_id = b.subject
            else e.sheet_id = b.subject end)`

/** What was spent and is held of the present period, read only: its purse is opened by whoever spends. */
export async function readBudgetSpending(
  db: Db,
  orgId: string,
  budgetId: string,
): Promise<{ spent: number; held: number }> {
  const { rows } = await sql<{ purse_id: string | null; spent: number }>`
    select p.purse_id, case when p.purse_id is null and b.period <> 'run'
      then ${spentOf({ org_id: orgId, run_id: null })} else 0 end::bigint as spent
    from budgets b left join purses p on p.org_id = b.org_id and p.budget_id = b.budget_id and b.period <> 'run'
      and p.period_start is not distinct from ${PERIOD_START}
    where b.org_id = ${orgId} and b.budget_id = ${budgetId}`.execute(db)
  const { purse_id = null, spent = 0 } = rows[0] ?? {}
  const [purse] = purse_id === null ? [] : await listPurses(db, orgId, [purse_id])
  return purse ?? { spent, held: 0 }
}
