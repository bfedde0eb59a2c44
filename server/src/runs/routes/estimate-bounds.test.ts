import { afterAll, expect, it } from 'vitest'
import { done, failed, retry } from '#server/catalog/outcome.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { setPrice } from '#server/money/prices.ts'
import { grantCredits } from '#server/money/store/credits.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { PAID, paidAction } from '#test/builders/paid-action.ts'
import { createRandom } from '#test/builders/seeded-random.ts'
import { serveProviders } from '#test/builders/waterfall-model.ts'
import { makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

const PRICE = 2
/** The number of calls for each text, and for each provider and person. */
const asked = new Map<string, number>()
const count = (name: string) => {
  const calls = (asked.get(name) ?? 0) + 1
  asked.set(name, calls)
  return calls
}
/**
 * An action that costs two credits. A text that begins with `404` fails the first time, `500` passes at the second try,
 * `bad` never has a result.
 */
const paid = paidAction(async (text, cellRun) => {
  const calls = count(`${cellRun.split('/')[0]} ${text}`)
  await new Promise((resolve) => setTimeout(resolve, 20))
  if (text.startsWith('bad') || (text.startsWith('404') && calls === 1)) return failed('404')
  if (text.startsWith('500') && calls === 1) return retry('500', 10)
  return done({ value: text })
})
const providers = await serveProviders((id, person) => {
  const status = Number(/^s(\d{3})/.exec(person)?.[1])
  // All three providers refuse the first call for the person, so the first cell has no result.
  return Number.isNaN(status) || count(`${id} ${person}`) > 1 ? null : status
})
afterAll(() => providers.close())
const catalogue = catalogueOf(paid, ...(await loadCatalogue()).list())
const app = await makeApp({ services: { catalogue }, settings: providers.settings })
await startTestWorker(app)
await startTestWorker(app)
const WATERFALL_ID = 'person_work_email_waterfall'
// A miss costs credits too.
await setPrice(app.store.system, catalogue, {
  action: WATERFALL_ID,
  provider: 'hunter',
  credits: 1,
  missCredits: 0.5,
})

type Step = { action_id: string; inputs: object; run_if?: object }
const WATERFALL: Step = {
  action_id: WATERFALL_ID,
  inputs: {
    full_name: '{{input.name}}',
    company_domain: 'acme.example',
    email_providers: ['Hunter', 'Datagma', 'Findymail'],
    email_validation: ['None'],
  },
}
const onlyIf = (variable: string, value: string) => ({
  conditions: [{ conditions: [{ variable, operator: 'is equal to', values: [value] }] }],
})

async function makePaidOrg(): Promise<TestOrg> {
  const org = await app.makeOrg()
  await app.store.system
    .transaction()
    .execute((trx) => grantCredits(trx, org.orgId, { amountMillis: 1_000_000, reason: 'test' }))
  return org
}

async function makeSheet(org: TestOrg, steps: Step[], rows: object[], settings: object) {
  const { workflow_id } = (await org.call('POST', '/workflows', { name: 'Estimated' })).body.data
  const base = `/workflows/${workflow_id}/sheets/${workflow_id}`
  const inputs = ['x', 'name'].map((name) => ({ name, type: 'string' }))
  await org.call('POST', `${base}/inputs`, inputs)
  for (const step of steps)
    expect((await org.call('POST', `${base}/actions/add`, step)).status, step.action_id).toBe(201)
  expect((await org.call('PATCH', base, settings)).status).toBe(200)
  const added = await org.call('POST', `${base}/rows`, { rows })
  return { base, ids: added.body.data.row_ids as string[] }
}

type Chosen = { row_ids: string[] } | { only: 'unfinished' | 'failed' }

/** Runs these rows, and returns the estimate of the most that they cost, what they cost, and their statuses. */
async function runEstimated(org: TestOrg, base: string, chosen: Chosen) {
  const { at_most } = (await org.call('POST', `${base}/estimate`, chosen)).body.data.credits
  const before = (await org.call('GET', '/credits')).body.data.balance
  const path = 'row_ids' in chosen ? '/run' : '/run-all'
  expect((await org.call('POST', `${base}${path}`, chosen)).status).toBe(200)
  const rows = await settledRows(org, base, 100)
  const after = (await org.call('GET', '/credits')).body.data.balance
  const statuses = rows.map(({ row_status }) => row_status).toSorted()
  return { at_most, bill: Math.round((before - after) * 1000) / 1000, statuses }
}

const repeat = (times: number, x: string) => Array.from({ length: times }, () => ({ x, name: 'a Lee' }))

it('D85: identical rows of which the first fails are billed once: one takes over, the others go on waiting', async () => {
  const org = await makePaidOrg()
  const { base, ids } = await makeSheet(org, [PAID], repeat(6, '404'), { cache_enabled: true })
  expect(await runEstimated(org, base, { row_ids: ids })).toEqual({
    at_most: PRICE,
    bill: PRICE,
    statuses: [...Array.from({ length: 5 }, () => 'complete'), 'has_failures'],
  })
  // Nothing is left to be computed: the run has called twice.
  expect([...asked].filter(([name]) => name.endsWith(' 404')).map(([, calls]) => calls)).toEqual([2])
})

it('D85: with a cache_since in the future identical rows of one run are computed once, and again by the next run', async () => {
  const org = await makePaidOrg()
  const settings = { cache_enabled: true, cache_since: '2999-01-01' }
  const { base, ids } = await makeSheet(org, [PAID], repeat(6, 'later'), settings)
  for (const run of [1, 2]) {
    const { at_most, bill } = await runEstimated(org, base, { row_ids: ids })
    expect([run, at_most, bill]).toEqual([run, PRICE, PRICE])
  }
})

it.each([1, 2, 3, 4, 5, 6])(
  'M2: whatever is run and fails, the bill is never above at_most: seed %d',
  async (seed) => {
    const org = await makePaidOrg()
    const random = createRandom(seed)
    const pick = <Item>(items: Item[]): Item => items[Math.floor(random() * items.length)] as Item
    const token = () => pick(['{{input.x}}', '{{input.x}}', '{{input.name}}'])
    const steps = Array.from({ length: Math.floor(random() * 4) }, (_, n): Step => {
      const text = n > 0 && random() < 0.3 ? `${token()} {{paid_1.value}}` : token()
      const step = random() < 0.4 ? WATERFALL : { ...PAID, inputs: { text } }
      return random() < 0.4 ? { ...step, run_if: onlyIf(token(), pick(['a', 'b', ''])) } : step
    })
    const people = ['a', 'b', `s404x${seed}`, `s400x${seed}`, `s401x${seed}`, `s500x${seed}`]
    const rows = Array.from({ length: 12 }, () => ({
      x: pick(['a', 'b', 'bad', '', '404', '404', '404', '500']),
      name: `${pick(people)} Lee`,
    }))
    const settings = {
      cache_enabled: random() < 0.7,
      cache_since: random() < 0.2 ? '2999-01-01' : null,
    }
    const { base, ids } = await makeSheet(org, [PAID, ...steps], rows, settings)
    const choices: Chosen[] = [
      { row_ids: ids.slice(0, 5) },
      { only: 'failed' },
      { only: 'unfinished' },
      { row_ids: ids },
    ]
    for (const chosen of choices) {
      const { at_most, bill } = await runEstimated(org, base, chosen)
      expect([chosen, bill <= at_most, bill, at_most]).toEqual([chosen, true, bill, at_most])
    }
  },
)
