import { setTimeout as sleep } from 'node:timers/promises'
import { postCharges } from '#server/money/store/limits/posting.ts'
import type { openInstallation } from './installation.ts'
import { check } from './installation.ts'

type Installation = Awaited<ReturnType<typeof openInstallation>>

/** The sums of an organisation that M18 compares, in whole thousandths. */
export type MoneyBooks = {
  flights: number
  balance: number
  held: number
  ledger: number
  charged: number
  used: number
  charges: number
  different_charges: number
  uneven_limits: number
  passed_limits: number
  uneven_runs: number
  granted: number
}

/**
 * Returns the sums of an organisation when none of its rows is in flight. Waits until its reservations are
 * released.
 */
export async function readMoneyBooks(
  { ask, store }: Pick<Installation, 'ask' | 'store'>,
  orgId: string,
): Promise<MoneyBooks> {
  const deadline = Date.now() + 60_000
  for (;;) {
    await postCharges(store.system, orgId)
    const [found] = await ask<MoneyBooks>(BOOKS, [orgId])
    if (found === undefined) throw new Error('the organisation is gone')
    if ((found.held === 0 && found.granted === 0) || Date.now() > deadline) return found
    await sleep(100)
  }
}

/** Checks M18 and the total that was spent. */
export function checkMoneyBooks(name: string, books: MoneyBooks, startMillis: number, spent: number): void {
  const of = (what: string) => `${name}: ${what}`
  check(of('rows in flight'), books.flights, 0)
  check(of('sum of the ledger = balance'), books.ledger, books.balance)
  check(of('thousandths spent'), startMillis - books.balance, spent)
  check(of('usage = ledger'), books.used, books.charged)
  check(of('one charge per run, row and action'), books.charges, books.different_charges)
  check(of("runs whose charges are not their cells'"), books.uneven_runs, 0)
  check(of('limits whose spending is not that of their charges'), books.uneven_limits, 0)
  check(of('caps and budgets that were passed'), books.passed_limits, 0)
  check(of('held'), books.held, 0)
  check(of('granted to shares'), books.granted, 0)
}

const LIMIT = `case p.kind when 'budget' then (select b.limit_millis from budgets b
  where b.org_id = p.org_id and b.budget_id = p.budget_id and b.mode = 'stop') else p.limit_millis end`

const BOOKS = `
with charge as (
  select * from ledger_entries where org_id = $1 and type = 'charge'
), by_run as (
  select r.run_id, r.cap_purse_id,
    coalesce((select sum(-c.amount_millis) from charge c where c.run_id = r.run_id), 0) as charged,
    coalesce((select sum(c.credits_millis) from cells c where c.org_id = $1 and c.run_id = r.run_id), 0) as cells,
    coalesce((select sum(t.credits_millis) from run_tallies t where t.org_id = $1 and t.run_id = r.run_id), 0) as tallied
  from runs r where r.org_id = $1
)
select (select count(*) from flights where org_id = $1) as flights,
  credits_millis as balance, held_millis as held,
  (select coalesce(sum(amount_millis), 0) from ledger_entries where org_id = $1)::bigint as ledger,
  (select coalesce(sum(-amount_millis), 0) from charge)::bigint as charged,
  (select coalesce(sum(credits_millis), 0) from usage_charges where org_id = $1)::bigint as used,
  (select count(*) from charge) as charges,
  (select count(distinct (run_id, row_id, action)) from charge) as different_charges,
  (select count(*) from by_run where charged <> cells or charged <> tallied) as uneven_runs,
  (select count(*) from purses p where org_id = $1 and spent_millis <> case kind
    when 'cap' then (select coalesce(sum(charged), 0) from by_run where cap_purse_id = p.purse_id)
    else (select coalesce(sum(-amount_millis), 0) from charge) end) as uneven_limits,
  (select count(*) from purses p where org_id = $1 and spent_millis + granted_millis > ${LIMIT}) as passed_limits,
  ((select coalesce(sum(granted_millis), 0) from purses where org_id = $1)
    + (select coalesce(sum(granted_millis), 0) from purse_shares where org_id = $1))::bigint as granted
from organisations where org_id = $1`
