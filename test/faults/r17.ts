// R17: a run of 10,000 rows x 3 actions while workers, the API, PostgreSQL or all of them are killed with -9 at random moments,
// compared with the same run without kills. No innocent row may be given up, and the delay is bounded.
// npm run faults:r17 [-- --rows 10000 --kills 20 --seed 1 --seconds-a-kill 10]
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { PRICE } from '#server/engine/testing/fault-catalogue.ts'
import { startWorkerChild, type WorkerChild } from '#server/engine/testing/worker-child.ts'
import { SECRET } from '#test/installation.ts'
import { serveProvider } from '#test/provider.ts'
import { type ServerProcess, startServer } from '#test/server-process.ts'
import { createRandom } from '../seeded-random.ts'
import { check, checkBooks, openInstallation, say, sayVerdict } from './installation.ts'

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

/** A seed gives the same kills again. */
const random = createRandom(Number(values.seed))
const provider = await serveProvider(5)
const installation = await openInstallation(CREDITS)
const { books, databaseUrl, folder } = installation
const workers: WorkerChild[] = []
let api: ServerProcess | undefined
const ending = new AbortController()

async function startWorker(index: number): Promise<void> {
  while (!ending.signal.aborted) {
    try {
      workers[index] = await startWorkerChild(databaseUrl, { concurrency: 200, silenceMs: 8000 })
      return
    } catch {
      // It could not reach the database while that was down; whoever supervises it starts it again.
      await sleep(500)
    }
  }
}

async function startApi(): Promise<void> {
  do {
    api = await startServer({
      DATABASE_URL: databaseUrl,
      LOAM_SECRET: SECRET,
      LOAM_ROLES: 'api',
      LOAM_DATA_DIR: `${folder}/api`,
      LOAM_LOG_LEVEL: 'error',
    })
  } while (api.url === '' && !ending.signal.aborted)
}

const victims: Record<string, () => Promise<void>> = {
  async worker() {
    const index = random() < 0.5 ? 0 : 1
    workers[index]?.child.kill('SIGKILL')
    await startWorker(index)
  },
  async api() {
    await api?.stop('SIGKILL')
    await startApi()
  },
  async PostgreSQL() {
    installation.killPostgres()
    await sleep(100)
  },
  async all() {
    for (const worker of workers) worker.child.kill('SIGKILL')
    installation.killPostgres()
    await api?.stop('SIGKILL')
    await Promise.all([startApi(), startWorker(0), startWorker(1)])
  },
}

/** Runs a sheet to its end, and answers its seconds and how many were killed meanwhile. */
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
  const names = Object.keys(victims)
  let killed = 0
  while (killed < kills) {
    // The first at once: a small run is soon over.
    if (killed > 0) await sleep(500 + random() * 2000)
    const { flights, cells } = await books()
    if (flights === 0) break
    const name = names[Math.floor(random() * names.length)] ?? 'worker'
    await victims[name]?.()
    killed += 1
    say(`kill -9 ${name} at ${cells} cells`)
  }
  while ((await books()).flights > 0) await sleep(100)
  return { seconds: (Date.now() - began) / 1000, killed }
}

try {
  await Promise.all([startApi(), startWorker(0), startWorker(1)])
  say(`seed ${values.seed}: ${ROWS} rows x ${ACTIONS} actions, without kills and with ${KILLS}`)
  const calm = await runSheet(0)
  say(`without kills: ${calm.seconds.toFixed(1)} s`)
  const { seconds, killed } = await runSheet(KILLS)
  const limit = 1.5 * calm.seconds + SECONDS_A_KILL * killed
  await sleep(2000)
  const end = await books()
  check('rows that were given up', end.failed, 0)
  checkBooks(end, 2 * ROWS * ACTIONS, PRICE, CREDITS * 1000)
  check(`${seconds.toFixed(1)} s with ${killed} kills, at most ${limit.toFixed(1)} s`, seconds <= limit, true)
  sayVerdict('R17')
} finally {
  ending.abort()
  for (const worker of workers) worker.child.kill('SIGKILL')
  await api?.stop('SIGKILL')
  provider.close()
  await installation.close()
}
