import { afterAll, expect, it } from 'vitest'
import type { Call } from '#test/builders/sheets.ts'
import { predict, readLedger, runRows, serveProviders } from '#test/builders/waterfall-model.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { grantCredits } from '../../../money/store/credits.ts'
import { readHitRates } from '../../../money/store/provider-tallies.ts'

const ROWS = 600

const providers = await serveProviders()
afterAll(() => providers.close())
const app = await makeApp({ settings: providers.settings })
await startTestWorker(app, { concurrency: 200 })

it('calls, charges and results of a waterfall are exactly those that a plain model predicts', async () => {
  const org = await app.makeOrg()
  const more = { amountMillis: 10_000_000, reason: 'test' }
  await app.store.system.transaction().execute((trx) => grantCredits(trx, org.orgId, more))
  const call: Call = async (method, path, body) => (await org.call(method, path, body)).body
  await runRows(call, ROWS)
  const ledger = predict(ROWS)
  expect(await readLedger(app.store, org.orgId, providers.calls)).toEqual(ledger)

  // The sums are written beside the settlements, some time after the last of them.
  const finds = Object.values(ledger.rows)
  const sums = ['Hunter', 'Datagma', 'Findymail'].map((provider) => {
    const found = finds.filter((row) => row.provider === provider)
    const millis = found.reduce((sum, row) => sum + row.millis, 0)
    const asked = ledger.calls[provider.toLowerCase()]
    return {
      provider,
      asked,
      found: found.length,
      verified: found.length,
      price_per_find: millis / found.length / 1000,
    }
  })
  await expect
    .poll(() => readHitRates(app.store.system, org.orgId, { days: 2 }))
    .toMatchObject(
      sums.map((sum) => ({ action: 'person_work_email_waterfall', ...sum, p50_ms: expect.any(Number) })),
    )
})
