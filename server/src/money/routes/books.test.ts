import { describe, expect, it } from 'vitest'
import { defineAction } from '#server/catalog/define.ts'
import { field } from '#server/catalog/fields/fields.ts'
import { done } from '#server/catalog/outcome.ts'
import { output } from '#server/catalog/outputs.ts'
import { createCatalogue, loadCatalogue } from '#server/catalog/registry.ts'
import { inTransaction } from '#server/database/connection/db.ts'
import { resetPrices, setPrice } from '#server/money/prices.ts'
import { refundCharges } from '#server/money/store/credits.ts'
import { startRun } from '#server/runs/queue.ts'
import { getDefinition } from '#server/sheets/store/definitions.ts'
import { findSheet } from '#server/sheets/store/sheets.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

const paid = defineAction({
  id: 'paid',
  name: 'Paid',
  description: 'Costs two credits.',
  category: 'data',
  credits: 2,
  inputs: {},
  outputs: { value: output.text('A text.') },
  run: async () => done({ value: 'x' }),
})
/** An action whose waterfall has a miss that costs, an answer, and a verifier with the caller's own key. */
const asked = defineAction({
  id: 'asked',
  name: 'Asked',
  description: 'Asks three.',
  category: 'data',
  credits: 0,
  inputs: { website: field.text({ label: 'Website', help: 'A website.' }) },
  outputs: { value: output.text('A text.') },
  async run({ context }) {
    if (!(await context.reserve(2))) return { kind: 'out_of_credits', message: 'too few' }
    return {
      kind: 'done',
      outputs: { value: 'y' },
      credits: 1.1,
      provider: 'Two',
      provenance: [
        { provider: 'One', status: 'miss', ms: 1, credits: 0.1 },
        { provider: 'Two', status: 'hit', ms: 1, credits: 1 },
        { provider: 'Three', status: 'hit', ms: 1, credits: 0, list_credits: 0.3 },
      ],
    }
  },
})
const real = await loadCatalogue()
const borrowed = ['normalize_domain', 'verify_email', 'ai_generate'].map((id) => ({
  file: `${id}.ts`,
  module: { default: real.get(id) },
}))
const catalogue = createCatalogue([
  { file: 'paid.ts', module: { default: paid } },
  { file: 'asked.ts', module: { default: asked } },
  ...borrowed,
])
const app = await makeApp({ services: { catalogue } })
const org = await app.makeOrg()
const db = app.store.system

async function makeSheet(action: { action_id: string; inputs: object }, key = org.key) {
  const made = await app.call(key, 'POST', '/workflows', { name: `Sheet of ${action.action_id}` })
  const id: string = made.body.data.workflow_id
  const base = `/workflows/${id}/sheets/${id}`
  await app.call(key, 'POST', `${base}/inputs`, [{ name: 'website', type: 'string' }])
  const added = await app.call(key, 'POST', `${base}/actions/add`, action)
  expect(added.status).toBe(201)
  const addRows = async (count: number, name = 'site') => {
    const rows = Array.from({ length: count }, (_, n) => ({ website: `https://${name}${n}.example` }))
    const answer = await app.call(key, 'POST', `${base}/rows`, { rows, run_after_add: 'all' })
    return answer.body.data.row_ids as string[]
  }
  const runs = async () => (await app.call(key, 'GET', `${base}/runs`)).body.data
  return { id, base, addRows, runs, settled: () => settledRows(org, base) }
}

const entriesOf = async (workflowId: string) =>
  (await org.call('GET', `/credits/ledger?workflow_id=${workflowId}`)).body.data.entries

describe('M11: prices', () => {
  it('list every action with its providers, for any key', async () => {
    const key = await org.keyFor('user@example.com', 'user', { scopes: [] })
    const { status, body } = await app.call(key, 'GET', '/credits/prices')
    expect([status, body.data.version, body.data.agent]).toEqual([200, 1, { credits: 5 }])
    expect(body.data.actions.map(({ action_id }: { action_id: string }) => action_id)).toEqual(
      catalogue.list().map(({ id }) => id),
    )
    expect(body.data.actions[0]).toEqual({ action_id: 'paid', credits: 2, providers: [] })
    const verify = body.data.actions.find(
      ({ action_id }: { action_id: string }) => action_id === 'verify_email',
    )
    expect(verify.providers).toContainEqual({
      field: expect.any(String),
      provider: 'Hunter',
      credits: expect.any(Number),
      miss_credits: expect.any(Number),
      supports_own_key: true,
    })
    expect((await org.call('GET', '/credits/prices?version=99')).status).toBe(404)
    expect((await org.call('GET', '/credits/prices?version=x')).status).toBe(400)
  })

  it('a change never applies to rows already queued: a run follows the prices of when it was queued', async () => {
    const sheet = await makeSheet({ action_id: 'paid', inputs: {} })
    await sheet.addRows(2)
    expect((await setPrice(db, catalogue, { action: 'paid', credits: 3.5 })).version).toBe(2)
    // Setting the same price again changes nothing.
    expect((await setPrice(db, catalogue, { action: 'paid', credits: 3.5 })).version).toBe(2)
    const worker = await startTestWorker(app)
    await sheet.settled()
    const later = await sheet.addRows(1, 'later')
    const rows = await sheet.settled()
    expect(rows.map(({ row_status }) => row_status)).toEqual(['complete', 'complete', 'complete'])
    const entries = await entriesOf(sheet.id)
    expect(
      entries.map(({ row_id, amount, price_version }: Record<string, unknown>) => [
        row_id === later[0],
        amount,
        price_version,
      ]),
    ).toEqual([
      [true, -3.5, 2],
      [false, -2, 1],
      [false, -2, 1],
    ])
    expect((await sheet.runs()).map((run: { price_version: number }) => run.price_version)).toEqual([2, 1])
    expect((await org.call('GET', '/credits')).body.data.price_version).toBe(2)
    const estimate = await org.call('POST', `${sheet.base}/estimate`, { new_rows: 2 })
    expect(estimate.body.data).toMatchObject({ price_version: 2, credits: { expected: 7, at_most: 7 } })
    const before = await org.call('GET', '/credits/prices?version=1')
    expect(before.body.data.actions[0].credits).toBe(2)
    await worker.stop()
  })

  it('an action that computes for nothing can be given a price: each of its cells is then paid once', async () => {
    await setPrice(db, catalogue, { action: 'normalize_domain', credits: 0.25 })
    const sheet = await makeSheet({ action_id: 'normalize_domain', inputs: { value: '{{input.website}}' } })
    await sheet.addRows(120)
    const worker = await startTestWorker(app)
    await sheet.settled()
    await worker.stop()
    const entries = await entriesOf(sheet.id)
    expect([entries.length, entries[0].amount]).toEqual([100, -0.25])
    const [run] = await sheet.runs()
    expect(run.credits).toBe(30)
    await resetPrices(db, catalogue, undefined)
    expect((await org.call('GET', '/credits/prices')).body.data.actions[0].credits).toBe(2)
  })

  it('a provider has a price of its own in each action, also where it finds nothing', async () => {
    const before = (await org.call('GET', '/credits/prices')).body.data
    const { version, prices } = await setPrice(db, catalogue, {
      action: 'verify_email',
      provider: 'hunter',
      credits: 0.7,
      missCredits: 0.1,
    })
    expect(version).toBe(before.version + 1)
    const hunter = prices.actions
      .find(({ action_id }) => action_id === 'verify_email')
      ?.providers.find(({ provider }) => provider === 'Hunter')
    expect([hunter?.credits, hunter?.miss_credits]).toEqual([0.7, 0.1])
    await resetPrices(db, catalogue, 'verify_email')
    expect((await org.call('GET', '/credits/prices')).body.data.actions).toEqual(before.actions)
  })

  it.each([
    [{ action: 'payd', credits: 1 }, /There is no action payd; did you mean paid/],
    [{ action: 'verify_email', credits: 1 }, /provider/],
    [{ action: 'verify_email', provider: 'Nobody', credits: 1 }, /asks no provider Nobody/],
    [{ action: 'paid', credits: 1, missCredits: 1 }, /miss-credits/],
  ])('%j is refused, with what to do', async (given, words) => {
    const failure = await setPrice(db, catalogue, given).catch((cause: unknown) => cause)
    expect(JSON.stringify([String(failure), failure])).toMatch(words)
  })
})

type Row = Record<string, number | string | null>

describe('M13: usage', async () => {
  const annKey = await org.keyFor('ann@example.com', 'member')
  const mine = await makeSheet({ action_id: 'asked', inputs: { website: '{{input.website}}' } })
  const hers = await makeSheet({ action_id: 'paid', inputs: {} }, annKey)
  const gone = await makeSheet({ action_id: 'paid', inputs: {} })
  const worker = await startTestWorker(app)
  await org.call('PATCH', mine.base, { cache_enabled: true })
  for (const sheet of [mine, hers, gone]) await sheet.addRows(2)
  for (const sheet of [mine, hers, gone]) await sheet.settled()
  // The same values again: their results are cached.
  await mine.addRows(2)
  await mine.settled()
  await org.call('DELETE', `/workflows/${gone.id}`)
  const charge = (await entriesOf(gone.id))[0]
  await db
    .transaction()
    .execute((trx) => refundCharges(trx, org.orgId, { entryId: charge.entry_id }, 'a mistake'))
  await worker.stop()

  const usage = async (query: string, key = org.key) =>
    (await app.call(key, 'GET', `/credits/usage?${query}`)).body.data
  const of = (rows: Row[], name: string, value: unknown) => rows.find((row) => row[name] === value)

  it('adds up cells, charges, refunds and savings of a workflow, also of a deleted one', async () => {
    const { rows, group_by, from, to } = await usage('group_by=workflow')
    expect([group_by, Date.parse(to) - Date.parse(from)]).toEqual([['workflow'], 29 * 86_400_000])
    expect(of(rows, 'workflow_id', mine.id)).toEqual({
      workflow_id: mine.id,
      workflow_name: 'Sheet of asked',
      cells: 4,
      cells_billed: 2,
      cells_cached: 2,
      credits: 2.2,
      refunded: 0,
      saved_by_cache: 2.2,
      saved_by_own_keys: 0.6,
    })
    expect(of(rows, 'workflow_id', gone.id)).toMatchObject({
      workflow_name: 'Sheet of paid',
      cells: 2,
      cells_billed: 2,
      credits: 4,
      refunded: 2,
    })
  })

  it('a cell counts at the provider that answered it, what others took at them', async () => {
    const { rows, totals } = await usage(`group_by=provider&workflow_id=${mine.id}`)
    const figures = (rows as Row[]).map(({ provider, cells, cells_billed, credits }) => [
      provider,
      cells,
      cells_billed,
      credits,
    ])
    // Cells with a cached result asked no provider.
    expect(figures).toEqual([
      ['One', 0, 0, 0.2],
      ['Two', 2, 2, 2],
      [null, 2, 0, 0],
    ])
    expect([totals.cells, totals.credits, totals.saved_by_own_keys]).toEqual([4, 2.2, 0.6])
  })

  const groups = ['day', 'month', 'workflow', 'sheet', 'action', 'provider', 'member', 'key', 'trigger']
  it.each([...groups, 'day,workflow,provider', 'member,key,trigger'])(
    'by %s it equals the ledger',
    async (group) => {
      const { rows, totals } = await usage(`group_by=${group}`)
      const { entries } = (await org.call('GET', '/credits/ledger?limit=1000')).body.data
      const sum = (type: string) =>
        entries
          .filter((entry: Row) => entry['type'] === type)
          .reduce((total: number, entry: Row) => total + Math.round(Number(entry['amount']) * 1000), 0) / 1000
      const added = (name: string) =>
        (rows as Row[]).reduce((total, row) => total + Math.round(Number(row[name]) * 1000), 0) / 1000
      expect([added('credits'), added('refunded')]).toEqual([-sum('charge'), sum('refund')])
      expect([totals.credits, totals.refunded]).toEqual([-sum('charge'), sum('refund')])
    },
  )

  it('a member sees their own and their workflows, a restricted key its own', async () => {
    const seen = await usage('group_by=workflow', annKey)
    expect(seen.rows.map((row: Row) => row['workflow_id'])).toEqual([hers.id])
    const narrowed = await org.keyFor(org.adminEmail, 'admin', { allowedWorkflowIds: [mine.id] })
    const { rows, totals } = await usage('group_by=workflow', narrowed)
    expect([rows.length, totals.credits]).toEqual([1, 2.2])
    const stranger = await app.makeOrg()
    expect((await usage('group_by=day', stranger.key)).rows).toEqual([])
  })

  it.each([
    ['action_id=asked', 2.2],
    ['provider=One', 0.2],
    ['member=ann@example.com', 4],
    ['trigger=webhook', 0],
    ['from=2000-01-01&to=2000-12-31', 0],
  ])('%s leaves what it names', async (query, credits) => {
    expect((await usage(`group_by=action&${query}`)).totals.credits).toBe(credits)
  })

  it('as CSV has the same rows', async () => {
    const { rows, from, to } = await usage('group_by=action,trigger')
    const url = '/api/v1/credits/usage?group_by=action,trigger&format=csv'
    const answer = await app.api.inject({ url, headers: { authorization: `Bearer ${org.key}` } })
    expect(answer.headers['content-disposition']).toContain(`filename="usage-${from}_${to}.csv"`)
    const lines = answer.body.trim().split('\r\n')
    expect(lines[0]).toBe(Object.keys(rows[0]).join(','))
    expect(lines).toHaveLength(rows.length + 1)
  })

  it.each([
    ['group_by=colour', 'group_by'],
    ['group_by=day,day', 'group_by'],
    ['group_by=day,month,sheet,action', 'group_by'],
    ['from=yesterday', 'from'],
    ['from=2026-02-02&to=2026-02-01', 'from'],
    ['key_id=1', 'key_id'],
    ['format=xml', 'format'],
    ['trigger=x', 'trigger'],
  ])('%s is a 400 that names the parameter', async (query, name) => {
    const { status, body } = await org.call('GET', `/credits/usage?${query}`)
    expect([status, body.errors[0].field]).toEqual([400, expect.stringContaining(name)])
    expect(body.errors[0].message).not.toBe('required')
  })

  it('M14: a cell explains its cost line by line, with its entry and its prices', async () => {
    const [first, , third] = (await org.call('POST', `${mine.base}/rows/list`, {})).body.data.rows
    const billingOf = async (row: { row_id: string }) =>
      (await org.call('GET', `${mine.base}/rows/${row.row_id}/cells/asked_1`)).body.data.billing
    const entries: Row[] = await entriesOf(mine.id)
    expect(await billingOf(first)).toEqual({
      credits: 1.1,
      price_version: 1,
      entry_id: entries.find(({ row_id }) => row_id === first.row_id)?.['entry_id'],
      cached_from: null,
      saved_by_cache: 0,
      saved_by_own_keys: 0.3,
      stopped_by: null,
      lines: [
        {
          provider: 'One',
          status: 'miss',
          credits: 0.1,
          list_credits: 0.1,
          why: 'the provider had no answer',
        },
        { provider: 'Two', status: 'hit', credits: 1, list_credits: 1, why: 'the provider gave the answer' },
        {
          provider: 'Three',
          status: 'hit',
          credits: 0,
          list_credits: 0.3,
          why: 'the call used your own key, which costs nothing',
        },
      ],
    })
    expect(await billingOf(third)).toMatchObject({
      credits: 0,
      entry_id: null,
      cached_from: { run_id: entries[0]?.['run_id'], at: expect.stringMatching(/Z$/) },
      saved_by_cache: 1.1,
      lines: [],
    })
  })
})

it('M9: automatic runs count to the owner of the workflow, no matter who set them up', async () => {
  const sheet = await makeSheet(
    { action_id: 'paid', inputs: {} },
    await org.keyFor('owner@example.com', 'member'),
  )
  const record = await findSheet(db, org.orgId, sheet.id)
  if (record === undefined) throw new Error('the sheet is not there')
  const worker = await startTestWorker(app)
  const rows = { kind: 'ids' as const, ids: await sheet.addRows(1) }
  await sheet.settled()
  const actions = (await getDefinition(db, record)).actions.map(({ id }) => id)
  const triggers = ['schedule', 'webhook', 'source', 'segment', 'api'] as const
  for (const trigger of triggers) {
    const actor = { email: org.adminEmail, keyId: null }
    await inTransaction(db, (trx) => startRun(trx, actor, { sheet: record, actions, rows, trigger }))
    await sheet.settled()
  }
  await worker.stop()
  const entries: { trigger: string; member: string }[] = await entriesOf(sheet.id)
  expect(entries.toReversed().map(({ trigger, member }) => [trigger, member])).toEqual([
    ['api', 'owner@example.com'],
    ...triggers.slice(0, -1).map((trigger) => [trigger, 'owner@example.com']),
    ['api', org.adminEmail],
  ])
})
