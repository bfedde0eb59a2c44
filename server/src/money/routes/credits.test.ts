import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { defineAction } from '#server/catalog/define.ts'
import { done } from '#server/catalog/outcome.ts'
import { output } from '#server/catalog/outputs.ts'
import { createCatalogue } from '#server/catalog/registry.ts'
import { grantCredits, type Refundable, refundCharges } from '#server/money/store/credits.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'

/** An action that costs two credits, of which one goes to a provider. */
const paid = defineAction({
  id: 'paid',
  name: 'Paid',
  description: 'Costs two credits.',
  category: 'data',
  credits: 2,
  inputs: {},
  outputs: { value: output.text('A text.') },
  run: async () => done({ value: 'x' }, [{ provider: 'Hunter', status: 'hit', ms: 1, credits: 1 }]),
})
const catalogue = createCatalogue([{ file: 'paid.ts', module: { default: paid } }])
const app = await makeApp({ services: { catalogue } })
const worker = await startTestWorker(app)
const org = await app.makeOrg()
const stranger = await app.makeOrg()

async function runPaid(key: string, rows: number) {
  const made = await app.call(key, 'POST', '/workflows', { name: 'Paid' })
  const workflowId: string = made.body.data.workflow_id
  const base = `/workflows/${workflowId}/sheets/${workflowId}`
  await app.call(key, 'POST', `${base}/inputs`, [{ name: 'n', type: 'string' }])
  await app.call(key, 'POST', `${base}/actions/add`, { action_id: 'paid', inputs: {} })
  const added = await app.call(key, 'POST', `${base}/rows`, {
    rows: Array.from({ length: rows }, (_, n) => ({ n: String(n) })),
    run_after_add: 'all',
  })
  const runs = async () => (await app.call(key, 'GET', `${base}/runs`)).body.data
  // There is no expect.poll outside a test.
  while ((await runs())[0].state !== 'finished') await sleep(20)
  const [{ run_id }] = await runs()
  return { workflowId, rowIds: added.body.data.row_ids as string[], runId: run_id as string }
}

await app.store.system
  .transaction()
  .execute((trx) => grantCredits(trx, org.orgId, { amountMillis: 100_000, reason: '=granted' }))
const before = (await org.call('GET', '/credits')).body.data
const memberKey = await org.keyFor('ann@example.com', 'member')
const mine = await runPaid(org.key, 3)
const theirs = await runPaid(memberKey, 2)
const ledger = async (query = '', key = org.key) =>
  (await app.call(key, 'GET', `/credits/ledger${query}`)).body.data

describe('M12: Credits', () => {
  it('say what there is, what is set aside and what was spent', async () => {
    expect((await org.call('GET', '/credits')).body).toEqual({
      status: 200,
      data: {
        balance: before.balance - 10,
        held: 0,
        available: before.balance - 10,
        spent_today: 10,
        spent_this_month: 10,
        price_version: 1,
      },
    })
  })

  it.each([
    ['a key without the scope', { scopes: ['workflows:read'] }],
    ['the role user', { role: 'user' }],
  ] as const)('are 403 to %s', async (_who, given) => {
    const key = await org.keyFor(
      `${Math.random()}@example.com`,
      'role' in given ? given.role : 'member',
      'scopes' in given ? { scopes: [...given.scopes] } : {},
    )
    const answers = [await app.call(key, 'GET', '/credits'), await app.call(key, 'GET', '/credits/ledger')]
    expect(answers.map(({ status }) => status)).toEqual([403, 403])
  })
})

describe('M12: Ledger', () => {
  it('an entry names run, cell, action, member, key, trigger and providers', async () => {
    const { entries, next_cursor } = await ledger(`?run_id=${mine.runId}`)
    expect(next_cursor).toBeNull()
    expect(entries).toHaveLength(3)
    expect(mine.rowIds).toContain(entries[0].row_id)
    expect(entries[0]).toEqual({
      entry_id: expect.any(String),
      at: expect.any(String),
      type: 'charge',
      amount: -2,
      balance: expect.any(Number),
      reason: 'cell',
      run_id: mine.runId,
      workflow_id: mine.workflowId,
      sheet_id: mine.workflowId,
      row_id: expect.any(String),
      action_instance_id: 'paid_1',
      action_id: 'paid',
      member: org.adminEmail,
      key_id: expect.any(String),
      trigger: 'api',
      price_version: 1,
      refund_of: null,
      providers: [{ provider: 'Hunter', credits: 1 }],
    })
  })

  it('adds up to the balance, newest entry first', async () => {
    const { entries } = await ledger()
    const amounts: number[] = entries.map(({ amount }: { amount: number }) => amount)
    expect(amounts.reduce((sum, amount) => sum + amount)).toBe(entries[0].balance)
    expect((await org.call('GET', '/credits')).body.data.balance).toBe(entries[0].balance)
    // Ids are in the order of their creation. Times are those of transactions, which may overlap.
    const ids: string[] = entries.map(({ entry_id }: Entry) => entry_id)
    expect(ids).toEqual(ids.toSorted((one, other) => (one < other ? 1 : -1)))
  })

  it('pages lead through all of it without a gap', async () => {
    const whole = (await ledger()).entries
    const pages: unknown[] = []
    let cursor: string | null = null
    do {
      const page = await ledger(`?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`)
      expect(page.entries.length).toBeLessThanOrEqual(2)
      pages.push(...page.entries)
      cursor = page.next_cursor
    } while (cursor !== null)
    expect(pages).toEqual(whole)
  })

  it.each([
    ['type=grant', ({ type }: Entry) => type === 'grant'],
    ['type=refund', () => false],
    [`workflow_id=${theirs.workflowId}`, ({ workflow_id }: Entry) => workflow_id === theirs.workflowId],
    ['from=2000-01-01&to=2000-12-31', () => false],
    [
      `from=${new Date().toISOString().slice(0, 10)}&to=${new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)}`,
      () => true,
    ],
  ])('%s leaves what it names', async (query, keeps) => {
    const whole: Entry[] = (await ledger()).entries
    expect((await ledger(`?${query}`)).entries).toEqual(whole.filter(keeps))
  })

  it.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['type=gift', 'type'],
    ['from=yesterday', 'from'],
    ['from=2026-02-30', 'from'],
    ['run_id=1', 'run_id'],
    ['cursor=x', 'cursor'],
    ['format=xml', 'format'],
  ])('%s is a 400 that names the parameter', async (query, field) => {
    const { status, body } = await org.call('GET', `/credits/ledger?${query}`)
    expect([status, body.errors[0].field]).toEqual([400, field])
  })

  it('as CSV has the same entries, and texts that a spreadsheet would run are defused', async () => {
    const { entries } = await ledger()
    const answer = await app.api.inject({
      url: '/api/v1/credits/ledger?format=csv',
      headers: { authorization: `Bearer ${org.key}` },
    })
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8')
    const days = `${entries.at(-1).at.slice(0, 10)}_${entries[0].at.slice(0, 10)}`
    expect(answer.headers['content-disposition']).toContain(`attachment; filename="ledger-${days}.csv"`)
    const lines = answer.body.split('\r\n')
    expect(lines[0]).toBe(Object.keys(entries[0]).join(','))
    expect(lines).toHaveLength(entries.length + 2)
    expect(answer.body).toContain(",'=granted,")
  })

  it('a member sees their own and what their workflows cost; a narrowed key that of its workflows', async () => {
    const seen = await ledger('', memberKey)
    expect(seen.entries.map(({ run_id }: Entry) => run_id)).toEqual([theirs.runId, theirs.runId])
    const narrowed = await org.keyFor(org.adminEmail, 'admin', { allowedWorkflowIds: [mine.workflowId] })
    const { entries } = await ledger('', narrowed)
    expect(new Set(entries.map(({ workflow_id }: Entry) => workflow_id))).toEqual(new Set([mine.workflowId]))
  })

  it('another organisation sees nothing of it, by whatever id', async () => {
    expect((await ledger(`?run_id=${mine.runId}`, stranger.key)).entries).toEqual([])
    expect((await ledger(`?workflow_id=${mine.workflowId}`, stranger.key)).entries).toEqual([])
  })

  it('M15: each charge is given back once, by an entry that names it', async () => {
    const again = await runPaid(org.key, 3)
    const charges: Entry[] = (await ledger(`?run_id=${again.runId}`)).entries
    const [one] = charges
    const refund = (which: Refundable) =>
      app.store.system.transaction().execute((trx) => refundCharges(trx, org.orgId, which, 'a mistake'))
    expect(await refund({ entryId: one?.entry_id ?? '' })).toMatchObject({ entries: 1, amountMillis: 2000 })
    const both = await Promise.all([refund({ runId: again.runId }), refund({ runId: again.runId })])
    expect(both.map(({ entries }) => entries)).toEqual(expect.arrayContaining([0, 2]))
    expect(await refund({ entryId: one?.entry_id ?? '' })).toMatchObject({ entries: 0, amountMillis: 0 })
    const { entries } = await ledger(`?run_id=${again.runId}&type=refund`)
    expect(entries.map(({ refund_of }: Entry) => refund_of).sort()).toEqual(
      charges.map(({ entry_id }) => entry_id).sort(),
    )
    expect(entries[0]).toMatchObject({ amount: 2, reason: 'a mistake', action_id: 'paid' })
    const latest = (await ledger('?limit=1')).entries[0]
    expect((await org.call('GET', '/credits')).body.data.balance).toBe(latest.balance)
  })

  it('outlives its workflow', async () => {
    const gone = await runPaid(org.key, 1)
    expect((await org.call('DELETE', `/workflows/${gone.workflowId}`)).status).toBe(200)
    const { entries } = await ledger(`?workflow_id=${gone.workflowId}`)
    expect(entries.map(({ amount }: { amount: number }) => amount)).toEqual([-2])
    await worker.stop()
  })
})

type Entry = {
  entry_id: string
  type: string
  workflow_id: string | null
  run_id: string | null
  refund_of: string | null
}
