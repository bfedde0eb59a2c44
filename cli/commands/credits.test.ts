import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { grantCredits } from '#server/money/store/credits.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { runLoam } from '../testing/loam.ts'

const app = await makeApp()
const folder = mkdtempSync(join(tmpdir(), 'loam-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const ENV = { DATABASE_URL: app.databaseUrl, LOAM_SECRET: 'a secret for tests only', LOAM_DATA_DIR: folder }

const [org, other] = [await app.makeOrg(), await app.makeOrg()]
for (const amountMillis of [500, 2000]) {
  await app.store.system
    .transaction()
    .execute((trx) => grantCredits(trx, org.orgId, { amountMillis, reason: `gift of ${amountMillis}` }))
}
const ledger = (...args: string[]) => runLoam(['credits', 'ledger', ...args], ENV)

it('ledger lists the entries of one organisation, newest first, in credits', async () => {
  const { exit, stdout } = await ledger('--org', org.orgId, '--json')
  const at = expect.stringMatching(/^\d{4}-.*Z$/)
  expect([exit, JSON.parse(stdout)]).toEqual([
    0,
    [
      { at, amount: 2, balance: 1002.5, reason: 'gift of 2000', details: {} },
      { at, amount: 0.5, balance: 1000.5, reason: 'gift of 500', details: {} },
      { at, amount: 1000, balance: 1000, reason: expect.any(String), details: {} },
    ],
  ])
  const latest = await ledger('--org', org.orgId, '--limit', '1')
  expect(latest.stdout).toMatch(/^AT +AMOUNT +BALANCE +REASON.*\n.+ 2 +1002\.5 +gift of 2000\n$/)
  expect(JSON.parse((await ledger('--org', other.orgId, '--json')).stdout)).toHaveLength(1)
})

it.each(['0', 'all', '10001'])('ledger refuses --limit %s', async (limit) => {
  const { exit, stderr } = await ledger('--org', org.orgId, '--limit', limit)
  expect([exit, stderr]).toEqual([2, expect.stringContaining('limit: must be')])
})

it('M15: refund returns a charge only once', async () => {
  const entry_id = newId()
  await app.store.system
    .insertInto('credit_entries')
    .values({ org_id: org.orgId, entry_id, amount_millis: -2500, balance_millis: 1000_000, reason: 'cell' })
    .execute()
  await app.store.system
    .updateTable('organisations')
    .set({ credits_millis: 1000_000 })
    .where('org_id', '=', org.orgId)
    .execute()
  const refund = (...args: string[]) =>
    runLoam(['credits', 'refund', '--org', org.orgId, '--reason', 'wrong column', ...args], ENV)
  const given = await refund('--entry', entry_id, '--json')
  expect([given.exit, JSON.parse(given.stdout)]).toEqual([0, { entries: 1, amount: 2.5, balance: 1002.5 }])
  const again = await refund('--entry', entry_id)
  expect([again.exit, again.stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining('A charge of this entry that was not refunded'),
  ])
  expect(again.exit).not.toBe(0)
  const neither = await refund()
  expect([neither.exit, neither.stderr]).toEqual([2, expect.stringContaining('either --run or --entry')])
})

it('M16: prices are listed, set and reset; usage is grouped as requested', async () => {
  const prices = async (...args: string[]) => {
    const { exit, stdout, stderr } = await runLoam(['prices', ...args, '--json'], ENV)
    return exit === 0 ? JSON.parse(stdout) : stderr
  }
  const { version } = await prices('list')
  const set = ['--action', 'verify_email', '--provider', 'Hunter', '--credits', '0.7', '--miss-credits', '0']
  const changed = await prices('set', ...set)
  expect(changed).toMatchObject({ version: version + 1, actions: [{ action_id: 'verify_email' }] })
  expect(changed.actions[0].providers).toContainEqual(
    expect.objectContaining({ provider: 'Hunter', credits: 0.7, miss_credits: 0 }),
  )
  expect((await org.call('GET', '/credits/prices')).body.data.version).toBe(version + 1)
  expect((await prices('reset')).version).toBe(version + 2)
  expect(await prices('set', '--action', 'nothing', '--credits', '1')).toMatch(/There is no action nothing/)
  expect(await prices('set', '--action', 'ai_generate', '--credits', '0.0001')).toMatch(/at most 3 decimals/)

  const usage = ['credits', 'usage', '--org', org.orgId, '--group-by', 'day,provider']
  const { exit, stdout } = await runLoam([...usage, '--json'], ENV)
  expect([exit, JSON.parse(stdout)]).toMatchObject([
    0,
    { group_by: ['day', 'provider'], totals: { cells: 0 } },
  ])
  expect((await runLoam([...usage, '--to', 'soon'], ENV)).stderr).toMatch(/to.*must be a day/)
})

it('M16: budgets are set, changed, listed and removed; a run is estimated', async () => {
  const loam = async (...args: string[]) => {
    const { exit, stdout, stderr } = await runLoam([...args, '--json'], ENV)
    return exit === 0 ? JSON.parse(stdout) : stderr
  }
  const month = ['--org', org.orgId, '--scope', 'organisation', '--period', 'month']
  const made = await loam(
    'budget',
    'set',
    ...month,
    '--limit',
    '10.5',
    '--thresholds',
    '90,50',
    '--name',
    'Us',
  )
  expect(made).toMatchObject({
    name: 'Us',
    limit: 10.5,
    thresholds: [50, 90],
    webhook_secret: expect.any(String),
  })
  const changed = await loam('budget', 'set', ...month, '--limit', '20', '--mode', 'warn')
  expect(changed).toMatchObject({ budget_id: made.budget_id, name: 'Us', limit: 20, mode: 'warn' })
  expect(await loam('budget', 'list', '--org', org.orgId)).toEqual([changed])
  const { workflow_id } = (await org.call('POST', '/workflows', { name: 'Costs' })).body.data
  const action = { action_id: 'web_answer', inputs: { question: 'Why?' } }
  await org.call('POST', `/workflows/${workflow_id}/sheets/${workflow_id}/actions/add`, action)
  const estimate = await loam('estimate', '--sheet', workflow_id, '--new-rows', '3', '--max-credits', '0')
  expect(estimate).toMatchObject({
    rows: 3,
    limits: [{ kind: 'max_credits', remaining: 0 }, { kind: 'balance' }],
  })
  const remove = ['budget', 'remove', made.budget_id, '--org', org.orgId]
  expect(await loam(...remove)).toEqual({ budget_id: made.budget_id, deleted: true })
  expect(await loam(...remove)).toMatch(/not found/i)
  expect(await loam('budget', 'set', ...month, '--limit', '1', '--emails', 'x')).toMatch(/email/)
})
