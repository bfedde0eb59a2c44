import { sql } from 'kysely'
import { type Db, inTransaction } from '../../../database/connection/db.ts'
import { newId } from '../../../lib/ids.ts'
import { ABOUT_CHARGE, isAbout, periodStart } from './budget-matches.ts'
import { lockPurses } from './purse-locks.ts'
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

const PERIOD_START = periodStart(sql`now()`)

/** The purses of all budgets that count what the spender spends now. */
export async function findBudgetPurses(db: Db, spender: Spender): Promise<string[]> {
  const { org_id, run_id } = spender
  const known = await listBudgetPurses(db, spender)
  const isOpen = (id: string | null) => id !== null
  if (known.every(({ purse_id }) => isOpen(purse_id))) return known.flatMap(({ purse_id }) => purse_id ?? [])
  return inTransaction(db, async (trx) => {
    // Before the organisation, whose lock opening takes, come the purses that the same transaction may take credits of.
    await lockPurses(
      trx,
      org_id,
      known.flatMap(({ purse_id }) => purse_id ?? []),
    )
    const found: string[] = []
    for (const { budget_id, purse_id } of known) {
      const id = purse_id ?? (await openLocked(trx, { org_id, budget_id, run_id }))
      if (id !== null) found.push(id)
    }
    return found
  })
}

async function listBudgetPurses(
  db: Db,
  { org_id, run_id, member, key_id, workflow_id, sheet_id, trigger }: Spender,
): Promise<{ budget_id: string; purse_id: string | null }[]> {
  const about = isAbout({
    trigger: sql`${trigger}`,
    member: sql`${member}`,
    key: sql`${key_id}`,
    workflow: sql`${workflow_id}`,
    sheet: sql`${sheet_id}`,
  })
  const { rows } = await sql<{ budget_id: string; purse_id: string | null }>`
    select b.budget_id, p.purse_id from budgets b
    left join purses p on p.org_id = b.org_id and p.budget_id = b.budget_id
      and p.period_start is not distinct from ${PERIOD_START}
      and p.run_id is not distinct from case b.period when 'run' then ${run_id}::uuid end
    where b.org_id = ${org_id} and ${about} and (b.period <> 'run' or ${run_id}::uuid is not null)
    order by b.budget_id`.execute(db)
  return rows
}

/** What a budget has of its present period; null for one that counts runs, or is gone. */
export async function getBudgetPurse(db: Db, orgId: string, budgetId: string): Promise<PurseState | null> {
  const period = { org_id: orgId, budget_id: budgetId, run_id: null }
  const id =
    (await findPurse(db, period)) ??
    (await inTransaction(db, async (trx) => {
      await lockPurses(trx, orgId, [])
      return openLocked(trx, period)
    }))
  if (id === null) return null
  return (await listPurses(db, orgId, [id]))[0] ?? null
}

type Period = { org_id: string; budget_id: string; run_id: string | null }

async function findPurse(db: Db, { org_id, budget_id, run_id }: Period): Promise<string | null> {
  const { rows } = await sql<{ purse_id: string }>`
    select p.purse_id from budgets b join purses p on p.org_id = b.org_id and p.budget_id = b.budget_id
      and p.period_start is not distinct from ${PERIOD_START}
      and p.run_id is not distinct from case b.period when 'run' then ${run_id}::uuid end
    where b.org_id = ${org_id} and b.budget_id = ${budget_id}`.execute(db)
  return rows[0]?.purse_id ?? null
}

/**
 * The purse of the present period, with what the ledger has of it. What is on its way there, and what cells hold at that moment,
 * is added by whoever enters it (`LATE_PURSES`): both have the lock of the organisation, so each charge is counted once.
 */
async function openLocked(trx: Db, period: Period): Promise<string | null> {
  const { org_id, budget_id, run_id } = period
  await sql`
    insert into purses (org_id, purse_id, kind, budget_id, period_start, run_id, spent_millis)
    select b.org_id, ${newId()}::uuid, 'budget', b.budget_id, ${PERIOD_START},
      case b.period when 'run' then ${run_id}::uuid end, ${ledgerSpending({ org_id, run_id })}
    from budgets b where b.org_id = ${org_id} and b.budget_id = ${budget_id}
      and (b.period <> 'run' or ${run_id}::uuid is not null)
    on conflict (org_id, budget_id, period_start, run_id) where budget_id is not null do nothing`.execute(trx)
  return findPurse(trx, period)
}

type Spent = Omit<Period, 'budget_id'>

const inPeriod = (run_id: string | null) => sql`(b.period <> 'run' or c.run_id = ${run_id}::uuid)
  and (${PERIOD_START} is null or c.at >= ${PERIOD_START})`

const ABOUT_ENTRY = isAbout({
  trigger: sql`c.trigger`,
  member: sql`c.member`,
  key: sql`c.key_id::text`,
  workflow: sql`c.workflow_id::text`,
  sheet: sql`c.sheet_id::text`,
})

/** What the ledger has of the present period of the budget `b`, but for what was held in an earlier one. */
const ledgerSpending = ({ org_id, run_id }: Spent) => sql`(
  (select coalesce(-sum(c.amount_millis), 0)::bigint from credit_entries c
    where c.org_id = ${org_id} and c.type = 'charge' and ${inPeriod(run_id)} and ${ABOUT_ENTRY})
  + (select coalesce(sum(c.millis), 0)::bigint from credit_blocks c
    where c.org_id = ${org_id} and ${inPeriod(run_id)} and ${ABOUT_ENTRY}
      and not exists (select from purses held where held.org_id = c.org_id and held.budget_id = b.budget_id
        and held.purse_id = any(c.purse_ids))))`

/** What is on its way to the ledger and counts to the present period of the budget `b`, in a purse that is not open yet. */
const pendingSpending = ({
  org_id,
}: Spent) => sql`(select coalesce(sum(c.millis), 0)::bigint from purse_charges c
  where c.org_id = ${org_id} and ${ABOUT_CHARGE} and (${PERIOD_START} is null or c.at >= ${PERIOD_START})
    and not exists (select from purses held where held.org_id = c.org_id and held.budget_id = b.budget_id
      and held.purse_id = any(c.purse_ids)))`

/** What was spent and is held of the present period, read only: its purse is opened by whoever spends. */
export async function readBudgetSpending(
  db: Db,
  orgId: string,
  budgetId: string,
): Promise<{ spent: number; held: number }> {
  const all = { org_id: orgId, run_id: null }
  const { rows } = await sql<{ purse_id: string | null; spent: number }>`
    select p.purse_id, case when p.purse_id is null and b.period <> 'run'
      then ${ledgerSpending(all)} + ${pendingSpending(all)} else 0 end::bigint as spent
    from budgets b left join purses p on p.org_id = b.org_id and p.budget_id = b.budget_id and b.period <> 'run'
      and p.period_start is not distinct from ${PERIOD_START}
    where b.org_id = ${orgId} and b.budget_id = ${budgetId}`.execute(db)
  const { purse_id = null, spent = 0 } = rows[0] ?? {}
  const [purse] = purse_id === null ? [] : await listPurses(db, orgId, [purse_id])
  return purse ?? { spent, held: 0 }
}
