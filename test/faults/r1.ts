// R1: a run of 100,000 cells while workers, the API, PostgreSQL or all of them are killed with -9 at random
// moments.
// npm run faults:r1 [-- --rows 20000 --kills 8 --seed 1]
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { PRICE } from '#server/runs/engine/testing/fault-catalogue.ts'
import { serveProvider } from '#test/doubles/provider.ts'
import { createRandom } from '../builders/seeded-random.ts'
import { check, checkBooks, openInstallation, say, sayVerdict } from './checks/installation.ts'
import { startFleet } from './load/fleet.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '20000' },
    kills: { type: 'string', default: '8' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
})
const ROWS = Number(values.rows)
const ACTIONS = 5
const CREDITS = 1_000_000
const RESUME_SECONDS = 30

/** A seed repeats the same kills. */
const random = createRandom(Number(values.seed))

const provider = await serveProvider(5)
const { url } = provider
const installation = await openInstallation(CREDITS)
const { books, key } = installation
const fleet = await startFleet(installation, { random, silenceMs: 4000 })

try {
  const paid = { action_id: 'paid' }
  const base = await installation.makeSheet([
    paid,
    { action_id: 'paid_call', inputs: { url } },
    { action_id: 'paid_call', inputs: { url } },
    paid,
    paid,
  ])
  await installation.addRows(base, ROWS)
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(`${fleet.apiUrl()}/api/v1${base}/run-all`, { method: 'POST', headers })
  say(`seed ${values.seed}: ${ROWS} rows x ${ACTIONS} actions are run, ${(await answer.text()).slice(0, 90)}`)
  const began = Date.now()
  let slowest = 0
  for (let n = 0; n < Number(values.kills); n += 1) {
    await sleep(500 + random() * 2000)
    const before = await books()
    if (before.flights === 0) break
    const killed = Date.now()
    const name = await fleet.killSome()
    const after = (await books()).cells
    while ((await books()).cells === after && (await books()).flights > 0) await sleep(100)
    const seconds = (Date.now() - killed) / 1000
    slowest = Math.max(slowest, seconds)
    say(`kill -9 ${name} at ${before.cells} cells; cells are settled again after ${seconds.toFixed(1)} s`)
  }
  const deadline = Date.now() + 300_000
  while ((await books()).flights > 0 && Date.now() < deadline) await sleep(200)
  await sleep(2000)
  say(`done after ${((Date.now() - began) / 1000).toFixed(1)} s`)
  checkBooks(await books(), ROWS * ACTIONS, PRICE, CREDITS * 1000)
  check(`resumed within ${RESUME_SECONDS} s each time`, slowest <= RESUME_SECONDS, true)
  sayVerdict('R1')
} finally {
  await fleet.end()
  provider.close()
  await installation.close()
}
