import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { inTransaction } from '#server/database/connection/db.ts'
import { getDefinition } from '#server/sheets/store/definitions.ts'
import { createEnding } from '../ending.ts'
import { makeFlightApp, makeFlightSheet, makeFlightStore, must } from '../testing/flight-store-fixture.ts'
import { createCellCache } from './cache.ts'

const app = await makeFlightApp()
const KEY = 'ab'.repeat(32)

it('D27: a claim that was made while its result was being stored is no reason to compute it again', async () => {
  const sheet = await makeFlightSheet(app, ['free'], 0)
  await sheet.org.call('PATCH', sheet.base, { cache_enabled: true })
  await sheet.addRows(2)
  const { runId } = await sheet.run()
  const flights = makeFlightStore(app)
  const [first, second] = await Promise.all(
    (await sheet.jobs()).map(async (job) => must(await flights.claim(job))),
  )
  const record = await sheet.record()
  const instance = must((await getDefinition(app.store.system, record)).actions[0])
  const use = { end: sleep(5000, 0, { ref: false }), express: false, isMissing: false, looked: undefined }
  const ask = (flight: typeof first) =>
    createCellCache(app.store, createEnding(new AbortController().signal)).find(must(flight), instance, KEY, {
      ...use,
      mayWait: true,
      mayCompute: false,
    })
  expect(await ask(first)).toEqual({ kind: 'miss' })

  // Does what the settlement of the first cell does. It is not committed yet when the second row asks.
  let asking: ReturnType<typeof ask> | undefined
  await inTransaction(app.store.system, async (trx) => {
    await sql`insert into cell_cache (org_id, sheet_id, action, epoch, key, outputs, run_id, credits_millis)
      values (${record.org_id}, ${record.sheet_id}, ${instance.id}, ${instance.epoch}, decode(${KEY}, 'hex'), '{"value": "x"}', ${runId}, 0)`.execute(
      trx,
    )
    await sql`delete from cell_claims where org_id = ${record.org_id}`.execute(trx)
    asking = ask(second)
    await sleep(300)
  })
  expect(await asking).toMatchObject({ kind: 'hit', isClaimed: true, outputs: { text: '{"value": "x"}' } })
})
