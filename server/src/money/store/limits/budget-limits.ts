import { sql } from 'kysely'
import { type Db, inTransaction } from '../../../database/connection/db.ts'
import { newId } from '../../../lib/ids.ts'
import { MATCHES_CHARGE, matchesSpender, periodStart } from './budget-matches.ts'
import { lockLimits } from './limit-locks.ts'
import { listLimits, type LimitState } from './limits.ts'

/**
 * The facts of spending, by which its budgets are found. A budget is only a record of `budgets`: the limits that a run draws
 * on are computed from scope, subject, trigger and period, again each second while the run lasts. A limit counts one period
 * of a budget. It is opened when it is first needed, with the ledger's spending of that period.
 */
export type Spender = {
  org_id: string
  run_id: string | null
  /** The email of the person who spends; if nobody started the run, of the workflow's owner. */
  member: string | null
  key_id: string | null
  workflow_id: string | null
  sheet_id: string | null
  trigger: string
}

const PERIOD_START = periodStart(sql`now()`)

/** Finds or opens the limits of all budgets that count the spender now. */
export async function findBudgetLimits(db: Db, spender: Spender): Promise<string[]> {
  const { org_id, run_id } = spender
  const known = await listBudgetLimits(db, spender)
  const isOpen = (id: string | null) => id !== null
  if (known.every(({ purse_id }) => isOpen(purse_id))) return known.flatMap(({ purse_id }) => purse_id ?? [])
  return inTransaction(db, async (trx) => {
    // Opening a limit locks the organisation. The limits that the same transaction may lease credits of must be locked before
    // it.
    await lockLimits(
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

async function listBudgetLimits(
  db: Db,
  { org_id, run_id, member, key_id, workflow_id, sheet_id, trigger }: Spender,
): Promise<{ budget_id: string; purse_id: string | null }[]> {
  const about = matchesSpender({
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

/** Returns the limit of a budget's current period. Returns null for a budget that counts runs, or was deleted. */
export async function getBudgetLimit(db: Db, orgId: string, budgetId: string): Promise<LimitState | null> {
  const period = { org_id: orgId, budget_id: budgetId, run_id: null }
  const id =
    (await findLimit(db, period)) ??
    (await inTransaction(db, async (trx) => {
      await lockLimits(trx, orgId, [])
      return openLocked(trx, period)
    }))
  if (id === null) return null
  return (await listLimits(db, orgId, [id]))[0] ?? null
}

type Period = { org_id: string; budget_id: string; run_id: string | null }

async function findLimit(db: Db, { org_id, budget_id, run_id }: Period): Promise<string | null> {
  const { rows } = await sql<{ purse_id: string }>`
    select p.purse_id from budgets b join purses p on p.org_id = b.org_id and p.budget_id = b.budget_id
      and p.period_start is not distinct from ${PERIOD_START}
      and p.run_id is not distinct from case b.period when 'run' then ${run_id}::uuid end
    where b.org_id = ${org_id} and b.budget_id = ${budget_id}`.execute(db)
  return rows[0]?.purse_id ?? null
}

/**
 * Opens the limit of the current period with the ledger's spending of it. Charges that are not in the ledger yet, and credits
 * that cells hold at that moment, are added when they are entered (`LATE_LIMITS`). Both steps lock the organisation, so each
 * charge is counted once.
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
  return findLimit(trx, period)
}

type Spent = Omit<Period, 'budget_id'>

const inPeriod = (run_id: string | null) => sql`(b.period <> 'run' or c.run_id = ${run_id}::uuid)
  and (${PERIOD_START} is null or c.at >= ${PERIOD_START})`

const MATCHES_ENTRY = matchesSpender({
  trigger: sql`c.trigger`,
  member: sql`c.member`,
  key: sql`c.key_id::text`,
  workflow: sql`c.workflow_id::text`,
  sheet: sql`c.sheet_id::text`,
})

/**
 * Returns the ledger's spending of the current period of the budget `b`, without charges that were held in an earlier period.
 */
const ledgerSpending = ({ org_id, run_id }: Spent) => sql`(
  (select coalesce(-sum(c.amount_millis), 0)::bigint from credit_entries c
    where c.org_id = ${org_id} and c.type = 'charge' and ${inPeriod(run_id)} and ${MATCHES_ENTRY})
  + (select coalesce(sum(c.millis), 0)::bigint from credit_blocks c
    where c.org_id = ${org_id} and ${inPeriod(run_id)} and ${MATCHES_ENTRY}
      and not exists (select from purses held where held.org_id = c.org_id and held.budget_id = b.budget_id
        and held.purse_id = any(c.purse_ids))))`

/**
 * Returns the charges that are not in the ledger yet and count to the current period of the budget `b`, while its limit is
 * not open.
 */
const pendingSpending = ({
  org_id,
}: Spent) => sql`(select coalesce(sum(c.millis), 0)::bigint from purse_charges c
  where c.org_id = ${org_id} and ${MATCHES_CHARGE} and (${PERIOD_START} is null or c.at >= ${PERIOD_START})
    and not exists (select from purses held where held.org_id = c.org_id and held.budget_id = b.budget_id
      and held.purse_id = any(c.purse_ids)))`

/** Reads the spent and held credits of the current period. It writes nothing: the limit is opened when credits are spent. */
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
  const [counted] = purse_id === null ? [] : await listLimits(db, orgId, [purse_id])
  return counted ?? { spent, held: 0 }
}
