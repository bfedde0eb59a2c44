import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { grantCredits, refundCharges } from '#server/money/store/credits.ts'
import { listLedger } from '#server/money/store/ledger.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { findBudgetLimits, getBudgetLimit, type Spender } from './budget-limits.ts'
import { giveBackCredits, type Need, leaseCredits, type LeaseRequest } from './leasing.ts'
import { createCap, forgetLimits, listLimits, openDailyCap } from './limits.ts'
import { endLeases, postCharges } from './posting.ts'

const app = await makeApp()
const db = app.store.system

const need = (more: number, total = more): Need => ({ more, total })

async function makeLimit(balance: number, cap: number | null) {
  const org = await app.makeOrg()
  const { orgId } = org
  await db
    .transaction()
    .execute((trx) => grantCredits(trx, orgId, { amountMillis: balance - 1_000_000, reason: 'test' }))
  const limitId = await createCap(db, orgId, cap)
  const take = (holder: string, needs: Need[], more: Partial<LeaseRequest> = {}) =>
    db.transaction().execute((trx) =>
      leaseCredits(trx, {
        orgId,
        limitIds: [limitId],
        holder,
        leasesKnown: [],
        needs,
        extraMillis: 0,
        ...more,
      }),
    )
  const charge = (holder: string, millis: number, facts: object = {}, limitIds = [limitId]) =>
    db
      .insertInto('purse_charges')
      .values({
        org_id: orgId,
        holder,
        purse_ids: limitIds,
        millis,
        facts: JSON.stringify({ trigger: 'api', ...facts }),
        kinds: JSON.stringify([['a_1', 'a', millis, null, 1]]),
        row_ids: [newId()],
        kind_of: [0],
      })
      .execute()
  const state = async () => (await listLimits(db, orgId, [limitId]))[0]
  const balanceOf = async () => {
    const { rows } = await sql<{ balance: number; held: number; ledger: number }>`
      select credits_millis as balance, held_millis as held,
        (select sum(amount_millis)::bigint from ledger_entries e where e.org_id = o.org_id) as ledger
      from organisations o where org_id = ${orgId}`.execute(db)
    return rows[0]
  }
  return { org, orgId, limitId, take, charge, state, balanceOf }
}

it('M6: cells wait for credits that others hold, and are refused only for spent credits', async () => {
  const { take, charge, state } = await makeLimit(100_000, 5000)
  const first = await take('one', [need(2000), need(2000), need(2000)])
  const short = { kind: 'max_credits', isFinal: false }
  expect(first).toMatchObject({ grantedMillis: 4000, answers: ['held', 'held', short] })
  expect(await take('two', [need(2000), need(1000)])).toMatchObject({ answers: [short, 'held'] })
  await charge('one', 2000)
  await charge('one', 2000)
  expect(await state()).toMatchObject({ limit: 5000, spent: 4000, held: 1000 })
  const refusal = {
    kind: 'max_credits',
    budgetId: null,
    name: null,
    leftMillis: 1000,
    neededMillis: 2000,
    isFinal: true,
  }
  expect(await take('two', [need(2000), need(500)])).toMatchObject({ answers: [refusal, short] })
})

it('M17: posting moves what was spent to the ledger, in the order of balances', async () => {
  const { orgId, take, charge, state, balanceOf } = await makeLimit(10_000, null)
  await take('one', [need(3000)])
  for (const millis of [100, 200, 300]) await charge('one', millis)
  await Promise.all([postCharges(db, orgId), postCharges(db, orgId, 'one')])
  expect(await state()).toMatchObject({ limit: null, spent: 600, held: 2400 })
  expect(await balanceOf()).toEqual({ balance: 9400, held: 2400, ledger: 9400 })
  await charge('one', 400)
  await endLeases(db, orgId, 'one')
  await endLeases(db, orgId, 'one')
  expect(await balanceOf()).toEqual({ balance: 9000, held: 0, ledger: 9000 })
  const entries = await db
    .selectFrom('ledger_entries')
    .select(['balance_millis', 'amount_millis'])
    .where('org_id', '=', orgId)
    .where('type', '=', 'charge')
    .orderBy('entry_id')
    .execute()
  expect(entries.map((entry) => [entry.amount_millis, entry.balance_millis])).toEqual([
    [-100, 9900],
    [-200, 9700],
    [-300, 9400],
    [-400, 9000],
  ])
})

it('M17: a missing lease is noticed, and credits given back are free again', async () => {
  const { orgId, limitId, take, state, balanceOf } = await makeLimit(10_000, 5000)
  await take('one', [need(2000)])
  const given = new Map([
    [limitId, 500],
    [orgId, 2000],
  ])
  await db.transaction().execute((trx) => giveBackCredits(trx, orgId, 'one', given))
  expect([await state(), (await balanceOf())?.held]).toMatchObject([{ held: 1500 }, 0])
  expect(await take('one', [need(1)], { leasesKnown: [limitId, orgId] })).toEqual({ kind: 'lost' })
  expect(await take('one', [need(1)], { leasesKnown: [limitId] })).toMatchObject({ answers: ['held'] })
})

it('M9: a budget is found by what it counts, and counts earlier spending of its period', async () => {
  const { orgId, take, charge } = await makeLimit(10_000, null)
  const spender: Spender = {
    org_id: orgId,
    run_id: newId(),
    member: 'a@b.co',
    key_id: newId(),
    workflow_id: newId(),
    sheet_id: newId(),
    trigger: 'api',
  }
  await take('one', [need(3000)])
  await charge('one', 700, { ...spender })
  await charge('one', 50, { ...spender, trigger: 'webhook' })
  const budgets = [
    ['organisation', null, null, 'day', 750],
    ['organisation', null, 'webhook', 'day', null],
    ['member', 'a@b.co', null, 'month', 750],
    ['member', 'c@d.co', null, 'month', null],
    ['key', spender.key_id, null, 'total', 750],
    ['workflow', spender.workflow_id, 'api', 'total', 700],
    ['sheet', spender.sheet_id, null, 'run', 750],
  ] as const
  const ids: string[] = []
  for (const [scope, subject, trigger, period] of budgets) {
    const budget_id = newId()
    ids.push(budget_id)
    const limits = { limit_millis: 1000, mode: 'stop' } as const
    await db
      .insertInto('budgets')
      .values({ org_id: orgId, budget_id, name: scope, scope, subject, trigger, period, ...limits })
      .execute()
  }
  const found = await findBudgetLimits(db, spender)
  expect(await findBudgetLimits(db, spender)).toEqual(found)
  const spent = new Map((await listLimits(db, orgId, found)).map((one) => [one.budget_id, one.spent]))
  expect(ids.map((id) => spent.get(id) ?? null)).toEqual(budgets.map(([, , , , millis]) => millis))
  expect(await getBudgetLimit(db, orgId, ids[1] ?? '')).toMatchObject({ limit: 1000, spent: 50, held: 0 })
  const answer = await take('one', [need(300, 300)], { limitIds: found })
  expect(answer).toMatchObject({ answers: [{ kind: 'budget', leftMillis: 250, neededMillis: 300 }] })
})

it('M9: what was held before a budget was made counts in it when it is settled, once, and in the period of its hold', async () => {
  const { orgId, take, charge } = await makeLimit(10_000, null)
  const budget = {
    org_id: orgId,
    budget_id: newId(),
    name: 'All',
    scope: 'organisation',
    subject: null,
    trigger: null,
    period: 'day',
    limit_millis: 1000,
    mode: 'stop',
  } as const
  await take('one', [need(3000)])
  await db.insertInto('budgets').values(budget).execute()
  const open = () => getBudgetLimit(db, orgId, budget.budget_id)
  const made = await open()
  expect(made).toMatchObject({ spent: 0, held: 0 })
  await charge('one', 700)
  expect(await open()).toMatchObject({ spent: 700, held: 0 })
  const refused = await take('two', [need(400)], { limitIds: [made?.purse_id ?? ''] })
  expect(refused).toMatchObject({ answers: [{ kind: 'budget', leftMillis: 300, isFinal: true }] })
  await postCharges(db, orgId)
  await charge('one', 100)
  await endLeases(db, orgId, 'one')
  await postCharges(db, orgId)
  expect(await open()).toMatchObject({ spent: 800, held: 0 })

  // A hold of yesterday that is settled today counts in yesterday's period.
  await take('two', [need(200)], { limitIds: [made?.purse_id ?? ''] })
  await sql`update purses set period_start = period_start - interval '1 day' where purse_id = ${made?.purse_id}`.execute(
    db,
  )
  await sql`update credit_blocks set at = at - interval '1 day' where org_id = ${orgId}`.execute(db)
  await charge('two', 50, {}, [made?.purse_id ?? ''])
  expect(await open()).toMatchObject({ spent: 0, held: 0 })
  await charge('two', 60, {}, [made?.purse_id ?? ''])
  await endLeases(db, orgId, 'two')
  expect(await open()).toMatchObject({ spent: 0, held: 0 })
  await sql`delete from purses where org_id = ${orgId} and purse_id <> ${made?.purse_id}`.execute(db)
  expect(await open()).toMatchObject({ spent: 0, held: 0 })
  expect(await listLimits(db, orgId, [made?.purse_id ?? ''])).toMatchObject([{ spent: 910, held: 0 }])
})

it('M12: the ledger has an entry for each charge, in pages of any size, and gives back each once', async () => {
  const { orgId, take, limitId } = await makeLimit(10_000, null)
  const runs = [newId(), newId()]
  const settle = async (runId: string | undefined, millis: number[]) => {
    const kinds = millis.map((one) => [
      'a_1',
      'a',
      one,
      one > 20 ? [{ provider: 'p', credits: one / 2000 }] : null,
      1,
    ])
    await db
      .insertInto('purse_charges')
      .values({
        org_id: orgId,
        holder: 'one',
        purse_ids: [limitId],
        millis: millis.reduce((sum, one) => sum + one, 0),
        facts: JSON.stringify({ trigger: 'api', run_id: runId }),
        kinds: JSON.stringify(kinds),
        row_ids: millis.map(() => newId()),
        kind_of: millis.map((_, n) => n),
      })
      .execute()
  }
  await take('one', [need(5000)])
  await settle(runs[0], [1, 2, 3])
  await settle(runs[1], [10, 20, 30, 40])
  await postCharges(db, orgId)
  await db.transaction().execute((trx) => grantCredits(trx, orgId, { amountMillis: 5, reason: 'more' }))
  await settle(runs[0], [4])
  await settle(runs[0], [5, 6])
  const read = async (limit: number, asked: { runId?: string; type?: 'charge' | 'grant' } = {}) => {
    const { runId = null, type = null } = asked
    const page = { from: null, before: null, workflowId: null, runId, type, limit }
    const found: { entry_id: string; amount_millis: number; balance_millis: number }[] = []
    for (;;) {
      const after = found.at(-1)?.entry_id ?? null
      const more = await listLedger(db, orgId, { member: null, workflows: null }, { ...page, after })
      found.push(...more)
      if (more.length < limit) return found
    }
  }
  const amounts = [-6, -5, -4, 5, -40, -30, -20, -10, -3, -2, -1]
  const all = await read(100)
  const shown = all.map(({ amount_millis }) => amount_millis)
  expect(shown.slice(0, 11)).toEqual(amounts)
  for (const [n, entry] of all.slice(1).entries())
    expect((all[n]?.balance_millis ?? 0) - (all[n]?.amount_millis ?? 0)).toBe(entry.balance_millis)
  for (const limit of [1, 2, 3, 5]) expect(await read(limit)).toEqual(all)
  const ofRun = (await read(2, { runId: runs[0] ?? '' })).map(({ amount_millis }) => amount_millis)
  expect(ofRun).toEqual([-6, -5, -4, -3, -2, -1])
  expect((await read(2, { type: 'grant' })).map(({ amount_millis }) => amount_millis)).not.toContain(-1)

  const giveBack = (which: { entryId: string } | { runId: string }) =>
    db.transaction().execute((trx) => refundCharges(trx, orgId, which, 'test'))
  const thirty = all[5]?.entry_id ?? ''
  expect(await giveBack({ entryId: thirty })).toMatchObject({ entries: 1, amountMillis: 30 })
  expect(await giveBack({ entryId: thirty })).toMatchObject({ entries: 0 })
  expect(await giveBack({ runId: runs[1] ?? '' })).toMatchObject({ entries: 3, amountMillis: 70 })
  expect(await giveBack({ runId: newId() })).toMatchObject({ entries: 0 })
  expect(await giveBack({ entryId: newId() })).toMatchObject({ entries: 0 })
  const { rows } = await sql<{ provider: string | null; credits: number; refunded: number }>`
    select provider, sum(credits_millis)::bigint as credits, sum(refunded_millis)::bigint as refunded from usage_charges
    where org_id = ${orgId} group by 1 order by 1`.execute(db)
  expect(rows).toEqual([
    { provider: 'p', credits: 35, refunded: 35 },
    { provider: null, credits: 86, refunded: 65 },
  ])
})

it('M5: the cap of a day is one limit, whose amount may change', async () => {
  const { orgId } = await makeLimit(10_000, null)
  const first = await openDailyCap(db, orgId, { subject: 'webhook', limitMillis: 1000 })
  expect(await openDailyCap(db, orgId, { subject: 'webhook', limitMillis: 2000 })).toBe(first)
  expect(await openDailyCap(db, orgId, { subject: 'other', limitMillis: 1000 })).not.toBe(first)
  expect(await listLimits(db, orgId, [first])).toMatchObject([{ limit: 2000, spent: 0 }])
})

it('M8: a cap is kept as long as its run, and deleted when no run uses it', async () => {
  const { org, orgId, limitId: ended, take, charge } = await makeLimit(100_000, 5000)
  const [held, unposted, young] = [
    await createCap(db, orgId, 1),
    await createCap(db, orgId, 2),
    await createCap(db, orgId, 3),
  ]
  const today = await openDailyCap(db, orgId, { subject: 'webhook', limitMillis: 1000 })
  const kept = await createCap(db, orgId, 7000)
  const { workflow_id } = (await org.call('POST', '/workflows', { name: 'Capped' })).body.data
  await sql`insert into runs (org_id, run_id, sheet_id, revision, actions, trigger, selector, created_by, state, cap_purse_id,
      cache_enabled, continue_on_fail)
    values (${orgId}, ${newId()}, ${workflow_id}, 1, '{}', 'api', '{}', 'operator', 'finished', ${kept}, false, false)`.execute(
    db,
  )
  await take('one', [need(1)], { limitIds: [held] })
  await charge('one', 1, {}, [unposted])
  await sql`update purses set created_at = now() - interval '2 days' where org_id = ${orgId} and purse_id <> ${young}`.execute(
    db,
  )
  await forgetLimits(db)
  const left = (await listLimits(db, orgId, [ended, held, unposted, young, today, kept])).map(
    (one) => one.purse_id,
  )
  expect(left).toEqual([held, unposted, young, today, kept].toSorted((one, other) => (one < other ? -1 : 1)))
})

it('M10: an alert says what was spent up to it, posted or not; a refusal fires what that has reached as well', async () => {
  const { orgId, take, charge } = await makeLimit(100_000, null)
  const spender: Spender = {
    org_id: orgId,
    run_id: newId(),
    member: 'a@b.co',
    key_id: null,
    workflow_id: newId(),
    sheet_id: newId(),
    trigger: 'api',
  }
  // Credits are held and charged before the budget exists.
  await take('old', [need(1000)], { limitIds: [] })
  const budget = {
    org_id: orgId,
    budget_id: newId(),
    name: 'All',
    scope: 'organisation',
    subject: null,
    trigger: null,
    period: 'day',
    limit_millis: 10_000,
    mode: 'stop',
  } as const
  await db.insertInto('budgets').values(budget).execute()
  const limitIds = await findBudgetLimits(db, spender)
  const alerts = async () => {
    const { rows } = await sql`select threshold, spent_millis from budget_alerts where org_id = ${orgId}
      order by threshold`.execute(db)
    return rows
  }
  const hold = (holder: string, millis: number) => take(holder, [need(millis)], { limitIds })
  await hold('one', 5000)
  await hold('two', 4000)
  await charge('one', 4000, { ...spender }, limitIds)
  await charge('two', 2000, { ...spender }, limitIds)
  await postCharges(db, orgId, 'one')
  expect(await alerts()).toEqual([])
  await charge('one', 1000, { ...spender }, limitIds)
  await postCharges(db, orgId, 'one')
  expect(await alerts()).toEqual([{ threshold: 50, spent_millis: 7000 }])
  await charge('old', 1000, { ...spender }, [])
  await charge('two', 1000, { ...spender }, limitIds)
  await hold('two', 2000)
  const [counted] = await listLimits(db, orgId, limitIds)
  expect(counted?.spent).toBe(9000)
  expect(await alerts()).toEqual([
    { threshold: 50, spent_millis: 7000 },
    { threshold: 80, spent_millis: 9000 },
    { threshold: 100, spent_millis: 9000 },
  ])
})
