// R17: a run of 10,000 rows x 3 actions while workers, the API, PostgreSQL or all of them are killed with -9
// at random moments, compared with the same run without kills. No innocent row may be abandoned, and the
// delay is bounded.
// npm run faults:r17 [-- --rows 10000 --kills 20 --seed 1 --seconds-a-kill 10]
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { PRICE } from '#server/runs/engine/testing/fault-catalogue.ts'
import { serveProvider } from '#test/doubles/provider.ts'
import { until } from '#test/plumbing/until.ts'
import { createRandom } from '../builders/seeded-random.ts'
import { check, checkBooks, openInstallation, say, sayVerdict } from './checks/installation.ts'
import { startFleet } from './load/fleet.ts'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '20' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    'seconds-a-kill': { type: 'string', default: '10' },
  },
})
const ROWS = Number(values.rows)
const KILLS = Number(values.kills)
const SECONDS_A_KILL = Number(values['seconds-a-kill'])
const ACTIONS = 3
const CREDITS = 10_000_000

/** A seed repeats the same kills. */
const random = createRandom(Number(values.seed))
const provider = await serveProvider(5)
const installation = await openInstallation(CREDITS)
const { books } = installation
const fleet = await startFleet(installation, { random, silenceMs: 8000 })

/** Runs a sheet to its end. Returns the seconds it took and the number of kills in that time. */
async function runSheet(kills: number): Promise<{ seconds: number; killed: number }> {
  const paid = { action_id: 'paid' }
  const base = await installation.makeSheet([
    paid,
    { action_id: 'paid_call', inputs: { url: provider.url } },
    paid,
  ])
  await installation.addRows(base, ROWS)
  await installation.call('POST', `${base}/run-all`)
  const began = Date.now()
  let killed = 0
  while (killed < kills) {
    // The first kill is immediate, because a small run ends soon.
    if (killed > 0) await sleep(500 + random() * 2000)
    const { flights, cells } = await books()
    if (flights === 0) break
    say(`kill -9 ${await fleet.killSome()} at ${cells} cells`)
    killed += 1
  }
  while ((await books()).flights > 0) await sleep(100)
  return { seconds: (Date.now() - began) / 1000, killed }
}

try {
  say(`seed ${values.seed}: ${ROWS} rows x ${ACTIONS} actions, without kills and with ${KILLS}`)
  const calm = await runSheet(0)
  say(`without kills: ${calm.seconds.toFixed(1)} s`)
  const { seconds, killed } = await runSheet(KILLS)
  const limit = 1.5 * calm.seconds + SECONDS_A_KILL * killed
  // The jobs of a killed process stay until the process is considered dead.
  await until('all jobs are done', async () => (await books()).jobs === 0)
  const end = await books()
  check('rows that were given up', end.failed, 0)
  checkBooks(end, 2 * ROWS * ACTIONS, PRICE, CREDITS * 1000)
  check(`${seconds.toFixed(1)} s with ${killed} kills, at most ${limit.toFixed(1)} s`, seconds <= limit, true)
  sayVerdict('R17')
} finally {
  await fleet.end()
  provider.close()
  await installation.close()
}
