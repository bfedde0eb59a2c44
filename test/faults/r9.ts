// R9: SIGTERM under load, to processes that serve requests, that run rows, that do both, and to all of them
// at once. No request in flight may fail, no lease may be left, and each process must end with 0 within 30 s.
// npm run faults:r9 [-- --rounds 3 --rows 1500 --slow-seconds 8 --callers 12 --only whole]
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { addRows, callOver, makeSheet, type Step } from '#test/builders/sheets.ts'
import { serveProvider } from '#test/doubles/provider.ts'
import { until } from '#test/plumbing/until.ts'
import { check, checkBooks, openInstallation, say, sayVerdict } from './checks/installation.ts'
import { type Crowd, type Exchange, hung, isGood, startCallers, type Wanted } from './load/load.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    rows: { type: 'string', default: '1500' },
    'slow-seconds': { type: 'string', default: '8' },
    callers: { type: 'string', default: '12' },
    only: { type: 'string' },
  },
})
type Role = 'api' | 'worker' | 'whole'
type Running = {
  url: string
  ids: string[]
  child: { kill(signal: 'SIGTERM'): boolean }
  ended: Promise<unknown>
}
const EACH: Role[][] = [['api'], ['worker'], ['whole'], ['api', 'worker', 'whole']]
const VICTIMS = values.only === undefined ? EACH : EACH.filter((roles) => roles.join() === values.only)
const ENDS = Array.from({ length: Number(values.rounds) }, () => VICTIMS).flat()
const ROLES = new Set<Role>(['whole', ...VICTIMS.flat()])
const ROWS = Number(values.rows)
const SLOW_ROWS = 20
const CREDITS = 1000
const ROWS_PER_CALL = 200
const END_SECONDS = 30
const CONCURRENCY = '50'

const provider = await serveProvider(30, { company: 'Acme' })
const slow = await serveProvider(Number(values['slow-seconds']) * 1000, { company: 'Slow' })
const installation = await openInstallation(CREDITS)
const { ask, books, countHeld, identify, key, orgId } = installation

const running = new Map<Role, Running>()
const STARTS: Record<Role, () => Promise<Running>> = {
  api: async () => ({ ids: [], ...(await installation.startServer({ LOAM_ROLES: 'api' })) }),
  async worker() {
    const { process, ids } = await identify(() => installation.startWorker({ LOAM_CONCURRENCY: CONCURRENCY }))
    return { url: '', ids, ...process }
  },
  async whole() {
    const { process, ids } = await identify(() => installation.startServer({ LOAM_CONCURRENCY: CONCURRENCY }))
    return { ids, ...process }
  },
}
const start = async (role: Role) => void running.set(role, await STARTS[role]())
const urlOf = (role: Role) => running.get(role)?.url ?? ''
for (const role of ROLES) await start(role)

// The API in this program is not used, because the processes have the ordinary catalogue.
const call = callOver(urlOf('whole'), key)
const callTo = (url: string): Step => ({
  action_id: 'http_api_call',
  inputs: { method: 'GET', endpoint: url },
})
const chain = [callTo(provider.url), callTo(provider.url)]
const makeLoad = async (rows: number, steps: Step[]) => {
  const sheet = await makeSheet(call, ['name'], steps)
  await addRows(call, sheet, rows)
  return sheet
}
const scratch = await makeLoad(0, [])
const slowSheet = await makeLoad(SLOW_ROWS, [callTo(slow.url)])
const loads: string[] = []
for (const _ of ENDS) loads.push(await makeLoad(ROWS, chain))

const rows = Array.from({ length: ROWS_PER_CALL }, (_, n) => ({ name: `Row ${n}` }))
const add: Wanted = { path: `${scratch}/rows`, body: { rows } }
const list: Wanted = { path: `${loads[0]}/rows/list`, body: { page_size: 200 } }
const REQUESTS = [add, list, add, { path: '/user/' }]
const crowds = new Map<Role, Crowd>(
  [...ROLES]
    .filter((role) => role !== 'worker')
    .map((role) => {
      const wanted = (n: number) => REQUESTS[n % REQUESTS.length] ?? add
      const count = Math.ceil(Number(values.callers) / 2)
      return [role, startCallers({ count, key, origin: () => urlOf(role), wanted })]
    }),
)

const wasSentBy = ({ sentAt }: Exchange, time: number) => sentAt !== null && sentAt < time

/** Sends SIGTERM under load and checks the end of each process. */
async function end(roles: Role[]): Promise<void> {
  const victims = roles.flatMap((role) => running.get(role) ?? [])
  const signalledAt = Date.now()
  for (const { child } of victims) child.kill('SIGTERM')
  const codes = await Promise.all(victims.map(({ ended }) => ended))
  const seconds = (Date.now() - signalledAt) / 1000
  await sleep(100)
  const inFlight = roles
    .flatMap((role) => crowds.get(role)?.exchanges ?? [])
    .filter((one) => wasSentBy(one, signalledAt) && one.endedAt >= signalledAt)
  say(
    `SIGTERM to ${roles.join(', ')}, ${inFlight.length} requests in flight: ended after ${seconds.toFixed(1)} s`,
  )
  check('exit codes', codes.join(), roles.map(() => 0).join())
  check(`ended within ${END_SECONDS} s`, seconds < END_SECONDS, true)
  check('requests in flight that failed', inFlight.filter((one) => !isGood(one)).length, 0)
  const ids = victims.flatMap((victim) => victim.ids)
  const entries = await ask('select from workers where worker_id = any($1::text[])', [ids])
  if (ids.length === 0) return
  check('jobs left locked', await countHeld(ids), 0)
  check('entries left in workers', entries.length, 0)
}

try {
  await call('POST', `${slowSheet}/run-all`)
  for (const [n, roles] of ENDS.entries()) {
    await callOver(urlOf('whole'), key)('POST', `${loads[n]}/run-all`)
    const before = (await books()).cells
    await until('rows are run', async () => (await books()).cells > before + ROWS / 10)
    await end(roles)
    for (const role of roles) await start(role)
  }
  for (const crowd of crowds.values()) await crowd.stop()
  await until('all rows land', async () => (await books()).flights === 0, 180)
  await until('no job is left', async () => (await books()).jobs === 0)

  const exchanges = [...crowds.values()].flatMap((crowd) => crowd.exchanges)
  const outcomes = Map.groupBy(exchanges, (one) => String(one.status ?? one.failure))
  say(`${exchanges.length} requests in all, also to what was ending or not there:`)
  for (const [outcome, all] of outcomes) say(`  ${all.length} x ${outcome}`)
  const wrong = exchanges.filter((one) => one.status !== null && !isGood(one) && one.status !== 503)
  check('answers other than 2xx, and 503 of a server that is ending', wrong.length, 0)
  check('requests that were neither answered nor refused', exchanges.filter(hung).length, 0)

  const adds = exchanges.filter((one) => one.wanted === add)
  const accepted = adds.filter(isGood).length
  const [stored] = await ask<{ count: number }>(
    'select count(*) from rows where org_id = $1 and sheet_id = $2',
    [orgId, scratch.slice(-36)],
  )
  const calls = (stored?.count ?? 0) / ROWS_PER_CALL
  say(`${accepted} of ${adds.length} calls of Add Rows were accepted; the rows of ${calls} are there`)
  check('rows: all that were accepted', calls >= accepted && calls <= adds.length, true)
  checkBooks(await books(), ROWS * loads.length * chain.length + SLOW_ROWS, 0, CREDITS * 1000)
  sayVerdict('R9')
} finally {
  for (const crowd of crowds.values()) await crowd.stop()
  provider.close()
  slow.close()
  await installation.close()
}
