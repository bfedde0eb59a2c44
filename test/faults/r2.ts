// R2: PostgreSQL is restarted and every connection is cut in a loop, while requests are made and rows run.
// Every request must get a response, 2xx or 503. After the last fault all requests must be answered normally
// within 10 s, and the books must be exact.
// npm run faults:r2 [-- --seconds 60 --callers 6 --rows-a-call 20 --recovery-seconds 10]
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { PRICE } from '#server/runs/engine/testing/fault-catalogue.ts'
import { serveProvider } from '#test/doubles/provider.ts'
import { until } from '#test/plumbing/until.ts'
import { check, checkBooks, openInstallation, say, sayVerdict } from './checks/installation.ts'
import { HANG_SECONDS, hung, isGood, startCallers, type Wanted } from './load/load.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    callers: { type: 'string', default: '6' },
    'rows-a-call': { type: 'string', default: '20' },
    'recovery-seconds': { type: 'string', default: '10' },
  },
})
const CREDITS = 10_000_000
const CALLERS = Number(values.callers)
const RECOVERY_SECONDS = Number(values['recovery-seconds'])
const ROWS_PER_CALL = Number(values['rows-a-call'])
const ACTIONS = 3
/** The number of consecutive good responses for each caller after which requests count as recovered. */
const WELL = 20
const RESTART_EVERY = 4

const provider = await serveProvider(20)
const installation = await openInstallation(CREDITS)
const { ask, books, key, orgId } = installation
for (const _ of ['one', 'two']) await installation.startFaultWorker({ concurrency: 100, silenceMs: 8000 })
const api = await installation.startServer({ LOAM_ROLES: 'api', LOAM_LOG_LEVEL: 'silent' })
const paid = { action_id: 'paid' }
const sheet = await installation.makeSheet([
  paid,
  { action_id: 'paid_call', inputs: { url: provider.url } },
  paid,
])
const rows = Array.from({ length: ROWS_PER_CALL }, () => ({ kill: 'no' }))
const add: Wanted = { path: `${sheet}/rows`, body: { rows, run_after_add: 'all' } }
const REQUESTS = [
  add,
  { path: `${sheet}/rows/list`, body: {} },
  { path: '/user/' },
  { path: `${sheet}/runs` },
]

const restart = () => installation.signalPostgres('SIGINT')
const cut = () =>
  ask(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`)

const crowd = startCallers({
  count: CALLERS,
  key,
  origin: () => api.url,
  wanted: (n) => REQUESTS[n % REQUESTS.length] ?? add,
  pauseMs: 50,
})
const { exchanges } = crowd
try {
  await until('rows are run', async () => (await books()).cells > 0)
  const ends = Date.now() + Number(values.seconds) * 1000
  let [cuts, restarts] = [0, 0]
  while (Date.now() < ends) {
    if ((cuts + restarts + 1) % RESTART_EVERY === 0) {
      restart()
      restarts += 1
      await sleep(4000)
    } else {
      await cut()
      cuts += 1
      await sleep(800)
    }
  }
  restart()
  const last = Date.now()
  say(`every connection was cut ${cuts} times, PostgreSQL was restarted ${restarts + 1} times`)
  const { cells } = await books()
  let settledAt = 0
  await until('all is well again', async () => {
    if (settledAt === 0 && (await books()).cells > cells) settledAt = Date.now()
    const latest = exchanges.slice(-WELL * CALLERS)
    return settledAt > 0 && latest.every((one) => isGood(one) && one.askedAt > last)
  })
  await crowd.stop()
  await until('all rows land', async () => (await books()).flights === 0, 120)
  await until('no job is left', async () => (await books()).jobs === 0)

  const slowest = Math.max(...exchanges.map((one) => one.endedAt - one.askedAt))
  say(`${exchanges.length} requests, the slowest took ${(slowest / 1000).toFixed(1)} s:`)
  const outcomes = Map.groupBy(exchanges, (one) => String(one.status ?? one.failure))
  for (const [outcome, all] of outcomes) say(`  ${all.length} x ${outcome}`)
  const refused = exchanges.filter((one) => one.status === 503)
  check(`requests without an answer within ${HANG_SECONDS} s`, exchanges.filter(hung).length, 0)
  check(
    'answers other than 2xx and 503',
    exchanges.length - refused.length - exchanges.filter(isGood).length,
    0,
  )
  check('503 without Retry-After', refused.filter((one) => one.retryAfter === null).length, 0)
  const troubledUntil = Math.max(last, ...exchanges.filter((one) => !isGood(one)).map((one) => one.endedAt))
  const seconds = (at: number) => ((at - last) / 1000).toFixed(1)
  say(
    `after the last restart cells were settled again at ${seconds(settledAt)} s, and no request failed after ${seconds(troubledUntil)} s`,
  )
  const recovered = Math.max(settledAt, troubledUntil) - last <= RECOVERY_SECONDS * 1000
  check(`recovered within ${RECOVERY_SECONDS} s`, recovered, true)

  const adds = exchanges.filter((one) => one.wanted === add)
  const accepted = adds.filter(isGood).length
  const [stored] = await ask<{ count: number }>('select count(*) from rows where org_id = $1', [orgId])
  const calls = (stored?.count ?? 0) / ROWS_PER_CALL
  say(`${accepted} of ${adds.length} calls of Add Rows were accepted; the rows of ${calls} are there`)
  check('rows: all that were accepted', calls >= accepted && calls <= adds.length, true)
  checkBooks(await books(), calls * ROWS_PER_CALL * ACTIONS, PRICE, CREDITS * 1000)
  sayVerdict('R2')
} finally {
  await crowd.stop()
  provider.close()
  await installation.close()
}
