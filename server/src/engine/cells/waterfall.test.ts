import { afterAll, expect, it } from 'vitest'
import { makeApp } from '#test/harness.ts'
import type { Call } from '#test/sheets.ts'
import { predict, readLedger, runRows, serveProviders } from '#test/waterfall-model.ts'
import { startTestWorker } from '#test/worker.ts'
import { grantCredits } from '../../store/organisation/credits.ts'

const ROWS = 600

const providers = await serveProviders()
afterAll(() => providers.close())
const app = await makeApp({ settings: providers.settings })
await startTestWorker(app, { concurrency: 200 })

it('calls, charges and results of a waterfall are exactly what a plain model predicts', async () => {
  const org = await app.makeOrg()
  const more = { amountMillis: 10_000_000, reason: 'test' }
  await app.store.system.transaction().execute((trx) => grantCredits(trx, org.orgId, more))
  const call: Call = async (method, path, body) => (await org.call(method, path, body)).body
  await runRows(call, ROWS)
  expect(await readLedger(app.store, org.orgId, providers.calls)).toEqual(predict(ROWS))
})
