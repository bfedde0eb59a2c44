// R18: mixed load at half of the server's capacity: rows are added and run, listed, posted to a webhook and
// exported, and streams of changes are opened and closed. The memory of every process must stay flat once it
// is warm, and so must its open files.
// npm run faults:r18 [-- --minutes 30 --warm-minutes 5 --slope-mb 1 --callers 12]
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createSealer } from '#server/lib/security/secrets.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { switchWebhookOn } from '#server/runs/webhooks/webhooks.ts'
import { callOver, makeSheet } from '#test/builders/sheets.ts'
import { serveProvider } from '#test/doubles/provider.ts'
import { openInstallation, SECRET } from '#test/plumbing/installation.ts'
import { sayOutcomes } from './checks/acknowledged-rows.ts'
import { check, say, sayVerdict } from './checks/installation.ts'
import { isGood, startCallers, type Wanted } from './load/load.ts'
import { countFiles, listChildren, privateMb, measureSlope } from './load/process-use.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    /** The minutes that are ignored, because memory is filled once. At most a third of the run. */
    'warm-minutes': { type: 'string', default: '5' },
    /** The megabytes per minute that a process may grow by. */
    'slope-mb': { type: 'string', default: '1' },
    callers: { type: 'string', default: '12' },
  },
})
const MINUTES = Number(values.minutes)
const WARM_MINUTES = Math.min(Number(values['warm-minutes']), MINUTES / 3)
const CALLERS = Number(values.callers)
const PEAK_MS = Math.min(10_000, MINUTES * 10_000)
const SAMPLE_MS = Math.min(5000, MINUTES * 1000)
const STREAM_MS = 500
/** The allowed growth. Connections open and close with the load, while a leak has no end. */
const SPARE_FILES = 60
const ROWS_PER_CALL = 10
const MAX_PRINTED = 20

type Sample = { minute: number; mb: number; files: number }

const provider = await serveProvider(20, { company: 'Acme' })
const installation = await openInstallation()
const over = new AbortController()
try {
  const { orgId, key } = await installation.makeOrg('Soak', 1_000_000)
  const api = await installation.startServer({ LOAM_ROLES: 'api', LOAM_LOG_LEVEL: 'error' })
  const worker = await installation.startWorker({ LOAM_LOG_LEVEL: 'info' })
  const call = callOver(api.url, key)
  const step = { action_id: 'http_api_call', inputs: { method: 'GET', endpoint: provider.url } }
  const formula = {
    action_id: 'format_data_using_js_expression',
    inputs: { data_formatter: '{{input.name}}' },
  }
  const sheet = await makeSheet(call, ['name'], [step, formula])
  const exported = await makeSheet(call, ['name'])
  await call('POST', `${exported}/rows`, {
    rows: Array.from({ length: 500 }, (_, n) => ({ name: `row ${n}` })),
  })
  const hookSheet = await makeSheet(call, ['name'])
  const about = { org_id: orgId, sheet_id: hookSheet.slice(-36) }
  const hook = await switchWebhookOn(installation.store.system, OPERATOR, createSealer(SECRET), {
    sheet: about,
  })

  const rows = Array.from({ length: ROWS_PER_CALL }, (_, n) => ({ name: `row ${n}` }))
  const add: Wanted = { path: `${sheet}/rows`, body: { rows, run_after_add: 'all' } }
  const list: Wanted = { path: `${sheet}/rows/list`, body: { page_size: 100 } }
  const me: Wanted = { path: '/user/' }
  const post: Wanted = { path: `/../../hooks/${hook}`, body: { name: 'posted' } }
  const runs: Wanted = { path: `${sheet}/runs` }
  const write: Wanted = { path: `${exported}/export`, body: {} }
  const MIX = [add, list, me, post, list, runs, me, add, list, me]
  const start = (pauseMs: number, mix: Wanted[]) =>
    startCallers({
      count: CALLERS,
      key,
      origin: () => api.url,
      wanted: (n) => mix[n % mix.length] ?? me,
      pauseMs,
      hangSeconds: 120,
    })

  const peak = start(0, MIX)
  await sleep(PEAK_MS)
  await peak.stop()
  const capacity = peak.exchanges.filter(isGood).length / (PEAK_MS / 1000)
  const pauseMs = (2 * CALLERS * 1000) / Math.max(1, capacity)
  say(`${capacity.toFixed(0)} requests a second at most; ${MINUTES} minutes with half of it`)

  /** Opens streams and closes them, like people who look at a sheet. */
  async function watchChanges(): Promise<number> {
    let opened = 0
    while (!over.signal.aborted) {
      const leaving = new AbortController()
      const headers = { authorization: `Bearer ${key}` }
      try {
        const answer = await fetch(`${api.url}/api/v1${sheet}/changes`, { headers, signal: leaving.signal })
        opened += answer.ok ? 1 : 0
        setTimeout(() => leaving.abort(), STREAM_MS)
        await answer.text()
      } catch (cause) {
        // The stream was closed on purpose.
        if (!leaving.signal.aborted) throw cause
      }
    }
    return opened
  }
  async function exportOften(): Promise<number> {
    let made = 0
    while (!over.signal.aborted) {
      made += await call('POST', write.path, write.body).then(
        () => 1,
        () => 0,
      )
      await sleep(3000, undefined, { signal: over.signal }).catch(() => undefined)
    }
    return made
  }

  const samples = new Map<string, Sample[]>()
  const began = Date.now()
  const minuteNow = () => (Date.now() - began) / 60_000
  function look(): void {
    const minute = minuteNow()
    const note = (name: string, mb: number, files: number) =>
      samples.set(name, [...(samples.get(name) ?? []), { minute, mb, files }])
    for (const [name, pid] of [
      ['api', api.child.pid],
      ['worker', worker.child.pid],
    ] as const)
      note(name, privateMb(pid ?? 0), countFiles(pid ?? 0))
    const postgres = listChildren(installation.postgresPid())
    const sum = (of: (pid: number) => number) => postgres.reduce((total, pid) => total + of(pid), 0)
    note('postgres, a process', sum(privateMb) / Math.max(1, postgres.length), postgres.length)
  }

  const load = start(pauseMs, MIX)
  const beside = Promise.all([watchChanges(), exportOften()])
  let lastPrinted = 0
  while (minuteNow() < MINUTES) {
    await sleep(SAMPLE_MS)
    look()
    if (minuteNow() - lastPrinted < 1) continue
    lastPrinted = minuteNow()
    const now = [...samples].map(
      ([name, all]) => `${name} ${all.at(-1)?.mb.toFixed(0)} MB ${all.at(-1)?.files}`,
    )
    say(`minute ${lastPrinted.toFixed(0)}: ${now.join(', ')}`)
  }
  over.abort()
  await load.stop()
  const [streams, exports] = await beside

  const { exchanges } = load
  say(
    `${exchanges.length} requests, ${(exchanges.length / MINUTES / 60).toFixed(0)} a second; ${streams} streams, ${exports} exports`,
  )
  sayOutcomes(exchanges)
  for (const one of exchanges.filter((each) => !isGood(each)).slice(0, MAX_PRINTED)) {
    const minute = (one.askedAt - began) / 60_000
    say(`minute ${minute.toFixed(1)}, ${one.wanted.path}: ${one.status} ${one.failure ?? one.refusal}`)
  }
  const complaints = readFileSync(join(installation.dataDir, 'postgres.log'), 'utf8')
    .split('\n')
    .filter((text) => /\b(ERROR|FATAL|PANIC|DETAIL|CONTEXT):/.test(text))
  for (const text of complaints.slice(0, MAX_PRINTED)) say(`PostgreSQL: ${text}`)
  check('answers other than 2xx', exchanges.filter((one) => !isGood(one)).length, 0)
  check('streams and exports', streams > 0 && exports > 0, true)
  for (const [name, all] of samples) {
    const warm = all.filter(({ minute }) => minute >= WARM_MINUTES)
    const slope = measureSlope(warm.map(({ minute, mb }) => [minute, mb]))
    const third = Math.ceil(warm.length / 3)
    const most = Math.max(...warm.slice(0, third).map(({ files }) => files))
    const least = Math.min(...warm.slice(-third).map(({ files }) => files))
    say(
      `${name}: ${warm[0]?.mb.toFixed(1)} to ${warm.at(-1)?.mb.toFixed(1)} MB, ${slope.toFixed(2)} MB a minute; ${most} and ${least} files`,
    )
    check(
      `${name} grows by at most ${values['slope-mb']} MB a minute`,
      slope <= Number(values['slope-mb']),
      true,
    )
    check(`${name} leaves no files open`, least <= most + SPARE_FILES, true)
  }
  check('both run', [api, worker].filter(({ child }) => child.exitCode === null).length, 2)
  sayVerdict('R18')
} finally {
  over.abort()
  provider.close()
  await installation.close()
}
