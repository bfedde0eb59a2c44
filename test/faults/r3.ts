// R3: a worker is stopped with SIGSTOP while it holds rows, for longer than its lease lasts; another takes
// the rows over; then SIGCONT. What it still writes must have no effect. It continues alternately once all
// rows are finished, or while the other is at work.
// npm run faults:r3 [-- --rounds 4 --rows 1500 --silence 8000]
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { PRICE } from '#server/runs/engine/testing/fault-catalogue.ts'
import { serveProvider } from '#test/doubles/provider.ts'
import { until } from '#test/plumbing/until.ts'
import { check, checkBooks, openInstallation, say, sayVerdict } from './checks/installation.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '4' },
    rows: { type: 'string', default: '1500' },
    silence: { type: 'string', default: '8000' },
  },
})
const ROWS = Number(values.rows)
const ROUNDS = Number(values.rounds)
const CREDITS = 1_000_000
const ACTIONS = 3
const LATE_MS = 3000

const provider = await serveProvider(100)
const installation = await openInstallation(CREDITS)
const { ask, books, countHeld, identify, orgId } = installation
const start = () => installation.startFaultWorker({ concurrency: 100, silenceMs: Number(values.silence) })
const first = await identify(start)
const second = await identify(start)
const workers = [first, second]
const call = { action_id: 'paid_call', inputs: { url: provider.url } }

/** Returns a hash of all cells, with the time and the attempt at which they were settled. */
async function fingerprint(): Promise<string> {
  const [found] = await ask<{ print: string }>(
    `select md5(string_agg(c::text, ',' order by row_id, action)) as print from cells c where org_id = $1`,
    [orgId],
  )
  return found?.print ?? ''
}

/** Counts the jobs that were started more than once. */
async function countTakenAgain(): Promise<number> {
  const [found] = await ask<{ again: number }>(
    `select count(*) as again from (select attempts from graphile_worker.jobs
      union all select attempts from graphile_groups.jobs) jobs where attempts > 1`,
  )
  return found?.again ?? 0
}

try {
  for (let round = 1; round <= ROUNDS; round += 1) {
    const during = round % 2 === 0
    const sleeper = during ? second : first
    const before = await books()
    const sheet = await installation.makeSheet([call, { action_id: 'paid' }, call])
    await installation.addRows(sheet, ROWS)
    await installation.call('POST', `${sheet}/run-all`)
    const underWay = before.cells + (ROWS * ACTIONS) / 10
    await until('both are at work', async () => {
      const held = await Promise.all(workers.map(({ ids }) => countHeld(ids)))
      return (await books()).cells > underWay && held.every((jobs) => jobs > 0)
    })
    sleeper.process.child.kill('SIGSTOP')
    const stopped = Date.now()
    const held = await countHeld(sleeper.ids)
    let again = 0
    const takenOver = async () => {
      again = Math.max(again, await countTakenAgain())
      return again > 0
    }
    await until('its rows are taken over', takenOver)
    const seconds = ((Date.now() - stopped) / 1000).toFixed(1)
    const landed = async () => (await takenOver(), (await books()).flights === 0)
    if (!during) await until('all rows land', landed)
    const [end, print] = during ? [] : [await books(), await fingerprint()]
    sleeper.process.child.kill('SIGCONT')
    if (during) await until('all rows land', landed)
    await sleep(LATE_MS)
    say(
      `round ${round}: stopped with ${held} jobs in hand, taken over after ${seconds} s (at least ${again} at once), ` +
        `went on ${during ? 'while the other was at them' : 'when all rows had landed'}`,
    )
    check('it held rows', held > 0, true)
    if (end !== undefined && print !== undefined) {
      const now = await books()
      check('charges after it went on', now.charges, end.charges)
      check('balance after it went on', now.credits, end.credits)
      check('cells are byte for byte what they were', await fingerprint(), print)
    }
    await until('no job is left', async () => (await books()).jobs === 0)
    const settled = await books()
    check('cells', settled.cells, round * ROWS * ACTIONS)
    check('charges in the ledger', settled.charges, round * ROWS * ACTIONS)
  }
  checkBooks(await books(), ROUNDS * ROWS * ACTIONS, PRICE, CREDITS * 1000)
  const cells = 2 * ROUNDS * ROWS
  say(`the provider was called ${provider.stats.calls} times for ${cells} cells`)
  check('calls are repeated, results are not', provider.stats.calls > cells, true)
  for (const { process } of workers) process.child.kill('SIGTERM')
  const codes = await Promise.all(workers.map(({ process }) => process.ended))
  check('both workers still end as they should', codes.join(), '0,0')
  sayVerdict('R3')
} finally {
  provider.close()
  await installation.close()
}
