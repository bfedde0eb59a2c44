// R10: sends ten times the requests that the server can answer, whether or not it answers. The server must
// keep answering at least 90% of what it can, refuse the rest at once with 429 or 503 and Retry-After, and
// recover within 10 s. Both rates are measured in turns, since the machine may have other work. The flood
// uses processor time of the same machine, which a remote caller would not: so goodput is the good responses
// per second of processor time that the server and PostgreSQL use. The rate by the clock is printed beside
// it, with how busy they were: a server that only waits would show there.
// npm run faults:r10 [-- --seconds 15 --rounds 2 --times 10 --goodput 0.9 --recovery-seconds 10]
import { Agent, request } from 'node:http'
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { addRows, callOver, makeSheet } from '#test/builders/sheets.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { until } from '#test/plumbing/until.ts'
import { check, say, sayVerdict } from './checks/installation.ts'
import { type Exchange, isGood, startCallers, type Wanted } from './load/load.ts'
import { readProcessorSeconds, secondsOfAll } from './load/process-use.ts'

const { values } = parseArgs({
  options: {
    /** The duration of each turn. */
    seconds: { type: 'string', default: '15' },
    rounds: { type: 'string', default: '2' },
    times: { type: 'string', default: '10' },
    goodput: { type: 'string', default: '0.9' },
    'recovery-seconds': { type: 'string', default: '10' },
  },
})
const SECONDS = Number(values.seconds)
const TIMES = Number(values.times)
/** The number of callers that keep the server busy without a growing queue. */
const CALLERS = 24
const PAGE_SIZE = 200
const COLUMNS = 20
const TICK_MS = 10
/**
 * The minimum rate of the flood. Even a machine that can answer next to nothing receives more requests than
 * it admits.
 */
const MIN_PER_SECOND = 300
/**
 * The number of connections, opened before the flood: Node accepts one new connection per turn of its event
 * loop, so a flood of new connections would wait before the server sees it.
 */
const MAX_OPEN = 800
const HANG_MS = 300_000
const FLOOD_PRIORITY = 10
/** The number of consecutive good responses after which the server counts as recovered. */
const WELL = 20

/** The number of good responses, and the processor time and elapsed time that they took. */
type Use = { good: number; seconds: number; took: number }
type Answer = { ms: number; status: number | null; retryAfter: boolean; failure: string | null }

function medianOf(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

function sumOf(uses: Use[]): Use {
  const sum = { good: 0, seconds: 0, took: 0 }
  for (const use of uses) {
    sum.good += use.good
    sum.seconds += use.seconds
    sum.took += use.took
  }
  return sum
}

const installation = await openInstallation()
const agent = new Agent({ keepAlive: true, maxSockets: MAX_OPEN, maxFreeSockets: MAX_OPEN })
try {
  const { key } = await installation.makeOrg('Crowd')
  const server = await installation.startServer({ LOAM_LOG_LEVEL: 'silent', LOAM_OVERLOAD_MS: '1000' })
  // A low priority leaves the processors to the server.
  setPriority(FLOOD_PRIORITY)
  const processorSeconds = () =>
    readProcessorSeconds(server.child.pid ?? 0) + secondsOfAll(installation.postgresPid())
  const call = callOver(server.url, key)
  const columns = Array.from({ length: COLUMNS }, (_, n) => `column ${n}`)
  const sheet = await makeSheet(call, columns)
  const row = Object.fromEntries(columns.map((name) => [name, 'x'.repeat(100)]))
  await addRows(call, sheet, PAGE_SIZE, () => row)
  // The request is short and its response expensive, so that the flood costs refusals and not its arrival.
  const list: Wanted = { path: `${sheet}/rows/list`, body: { page_size: PAGE_SIZE } }
  const add: Wanted = { path: `${sheet}/rows`, body: { rows: Array.from({ length: 20 }, () => row) } }
  const MIX = [list, list, list, add]
  const texts = MIX.map(({ path, body }) => ({ path, text: JSON.stringify(body) }))

  const closed = (count: number) =>
    startCallers({
      count,
      key,
      origin: () => server.url,
      wanted: (n) => MIX[n % MIX.length] ?? list,
      hangSeconds: HANG_MS / 1000,
    })

  /**
   * Measures the good responses per second of callers that wait for their responses, and the usual time of
   * one.
   */
  async function measurePeak(seconds: number): Promise<{ peak: number; usualMs: number; use: Use }> {
    const crowd = closed(CALLERS)
    const [from, used] = [Date.now(), processorSeconds()]
    await sleep(seconds * 1000)
    const good = crowd.exchanges.filter(isGood)
    const took = (Date.now() - from) / 1000
    const use = { good: good.length, seconds: processorSeconds() - used, took }
    await crowd.stop()
    return {
      peak: good.length / took,
      usualMs: medianOf(good.map((one) => one.endedAt - one.askedAt)),
      use,
    }
  }

  function send(n: number, answers: Answer[]): Promise<void> {
    const { path, text } = texts[n % texts.length] ?? { path: '', text: '' }
    const asked = performance.now()
    const { promise, resolve } = Promise.withResolvers<void>()
    const end = (status: number | null, retryAfter: boolean, failure: string | null) => {
      answers.push({ ms: performance.now() - asked, status, retryAfter, failure })
      resolve()
    }
    const sent = request(`${server.url}/api/v1${path}`, {
      agent,
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      },
      signal: AbortSignal.timeout(HANG_MS),
    })
    const fail = (cause: Error) => end(null, false, 'code' in cause ? String(cause.code) : cause.message)
    sent.on('error', fail)
    sent.on('response', (response) => {
      const { statusCode = 0, headers } = response
      response.on('error', fail).on('end', () => end(statusCode, headers['retry-after'] !== undefined, null))
      response.resume()
    })
    sent.end(text)
    return promise
  }

  async function openConnections(): Promise<void> {
    const ask = () => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const asked = request(`${server.url}/healthz`, { agent }, (response) => {
        response.on('end', resolve).resume()
      })
      asked.on('error', reject).end()
      return promise
    }
    await Promise.all(Array.from({ length: MAX_OPEN }, ask))
  }

  /** Sends this many requests per second, whatever the responses are. */
  async function flood(perSecond: number, seconds: number) {
    const answers: Answer[] = []
    const open = new Set<Promise<void>>()
    const [from, used] = [performance.now(), processorSeconds()]
    let [sent, held] = [0, 0]
    for (let spent = 0; spent < seconds * 1000; spent = performance.now() - from) {
      const due = Math.floor((spent / 1000) * perSecond)
      for (; sent + held < due;) {
        if (open.size >= MAX_OPEN) held += 1
        else {
          sent += 1
          const one = send(sent, answers)
          open.add(one)
          void one.then(() => open.delete(one))
        }
      }
      await sleep(TICK_MS)
    }
    const took = (performance.now() - from) / 1000
    const goods = answers.filter(({ status }) => status !== null && status < 300).length
    const use = { good: goods, seconds: processorSeconds() - used, took }
    return {
      answers,
      good: goods / took,
      use,
      offered: sent / took,
      left: open.size,
      rest: Promise.all(open),
    }
  }

  /**
   * Returns the seconds from now until requests are answered one after the other, and not much slower than by
   * a busy server.
   */
  async function recover(usualMs: number): Promise<number> {
    const ended = Date.now()
    const crowd = closed(2)
    const latest = () => crowd.exchanges.slice(-WELL)
    const isWell = (one: Exchange) => isGood(one) && one.endedAt - one.askedAt <= 3 * usualMs
    await until('all is well again', () => latest().length === WELL && latest().every(isWell), 300)
    const since = latest()[0]?.askedAt ?? Date.now()
    await crowd.stop()
    return Math.max(0, since - ended) / 1000
  }

  await measurePeak(Math.min(3, SECONDS))
  let slowest = 0
  const peaks: Use[] = []
  const floods: Use[] = []
  const all: Answer[] = []
  for (let round = 1; round <= Number(values.rounds); round += 1) {
    const { peak, usualMs, use: usual } = await measurePeak(SECONDS)
    await openConnections()
    const { answers, good, use, offered, left, rest } = await flood(
      Math.max(peak * TIMES, MIN_PER_SECOND),
      SECONDS,
    )
    const seconds = await recover(usualMs)
    await rest
    all.push(...answers)
    const ms = answers.filter((one) => one.status !== null && one.status >= 400).map((one) => one.ms)
    const median = Math.round(medianOf(ms))
    say(
      `round ${round}: ${peak.toFixed(0)} good answers a second; of ${offered.toFixed(0)} offered ${good.toFixed(0)}` +
        ` (${(good / peak).toFixed(2)}), ${left} were waiting at the end; refused after ${median} ms; well again after ${seconds.toFixed(1)} s`,
    )
    peaks.push(usual)
    floods.push(use)
    slowest = Math.max(slowest, seconds)
  }
  for (const [outcome, ones] of Map.groupBy(all, (one) => String(one.status ?? one.failure)))
    say(`  ${ones.length} x ${outcome}`)
  const refused = all.filter(({ status }) => status === 429 || status === 503)
  const others = all.filter(
    ({ status }) => status === null || (status >= 300 && status !== 429 && status !== 503),
  )
  check('answers other than 2xx, 429 and 503', others.length, 0)
  check('refusals without Retry-After', refused.filter((one) => !one.retryAfter).length, 0)
  check('some are refused', refused.length > 0, true)
  const [peak, most] = [sumOf(peaks), sumOf(floods)]
  say(
    `by the clock ${(most.good / most.took / (peak.good / peak.took)).toFixed(2)} of the peak;` +
      ` the server and PostgreSQL had ${(most.seconds / most.took).toFixed(2)} processors in the flood, ${(peak.seconds / peak.took).toFixed(2)} at the peak`,
  )
  const goodput = most.good / most.seconds / (peak.good / peak.seconds)
  say(
    `by processor time ${goodput.toFixed(2)} of the peak: ${((1000 * most.seconds) / most.good).toFixed(1)} ms a good answer` +
      ` with ${(refused.length / most.good).toFixed(1)} refusals, ${((1000 * peak.seconds) / peak.good).toFixed(1)} ms without`,
  )
  check(`goodput at least ${values.goodput} of the peak`, goodput >= Number(values.goodput), true)
  check(
    `well again within ${values['recovery-seconds']} s`,
    slowest <= Number(values['recovery-seconds']),
    true,
  )
  check('the end', await server.stop(), 0)
  sayVerdict('R10')
} finally {
  agent.destroy()
  await installation.close()
}
