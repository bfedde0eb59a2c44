// Endings: the real server on its embedded PostgreSQL receives signals to end at random moments, during the
// start and under load, one or two signals, directly and through npm. It must end with 0 within 30 s, without
// a warning, an error or a stack in its output, and leave no process and no pid file behind. In the end all
// work that was started must be finished.
// npm run faults:endings [-- --rounds 100 --rows 400]
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { addRows, callOver, makeSheet } from '#test/builders/sheets.ts'
import { serveProvider } from '#test/doubles/provider.ts'
import { UNLIMITED } from '#test/plumbing/installation.ts'
import { makeClusterFolder, prepareCluster } from '#test/plumbing/prepared-cluster.ts'
import { COMPILED, findAddress, FLAGS } from '#test/plumbing/server-process.ts'
import { until } from '#test/plumbing/until.ts'
import { check, say, sayVerdict } from './checks/installation.ts'
import { startCallers } from './load/load.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '100' }, rows: { type: 'string', default: '400' } },
})
const ROUNDS = Number(values.rounds)
const ROWS = Number(values.rows)
const END_SECONDS = 30
const PROVIDER_MS = 200
const CALLERS = 4
/** The longest time under load before the signal, and the longest time between two signals. */
const LOAD_MS = 2500
const APART_MS = 1200

type Round = { when: 'start' | 'load'; by: 'node' | 'npm'; signals: NodeJS.Signals[] }
const KINDS: Round[] = [
  { when: 'load', by: 'npm', signals: ['SIGTERM', 'SIGTERM'] },
  { when: 'start', by: 'node', signals: ['SIGTERM'] },
  { when: 'load', by: 'node', signals: ['SIGTERM', 'SIGINT'] },
  { when: 'load', by: 'node', signals: ['SIGTERM'] },
  { when: 'start', by: 'node', signals: ['SIGINT', 'SIGTERM'] },
  { when: 'load', by: 'node', signals: ['SIGINT', 'SIGINT'] },
]

const folder = makeClusterFolder('endings')
const dataDir = join(folder, 'data')
prepareCluster(dataDir)
const { PATH = '', HOME = '/' } = process.env
const env = {
  PATH,
  HOME,
  NODE_COMPILE_CACHE: COMPILED,
  HOST: '127.0.0.1',
  PORT: '0',
  LOAM_DATA_DIR: dataDir,
  LOAM_CONCURRENCY: '50',
  LOAM_EGRESS_ALLOW: '127.0.0.1',
  ...UNLIMITED,
}
/**
 * Writes to its third pipe when the program listens for signals. Before that line a signal ends the program
 * like any other.
 */
const HEARING = `process.on('newListener', (name) => name === 'SIGTERM' && process.nextTick(() => writeSync(3, 'hears')))`
const REPORT_HEARING = `data:text/javascript,import { writeSync } from 'node:fs';${HEARING}`
const COMMANDS = {
  node: [process.execPath, '--import', REPORT_HEARING, ...FLAGS, 'server/src/main.ts'],
  npm: ['npm', 'start'],
}

type Server = {
  child: ChildProcess
  ended: Promise<number | string>
  hears: Promise<unknown>
  /** The address of the server, or an empty text if it ended before it was ready. */
  ready: Promise<string>
  output: () => { stdout: string; stderr: string }
}

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

function start(by: Round['by']): Server {
  const [program = '', ...args] = COMMANDS[by]
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] })
  running.add(child)
  let stdout = ''
  let stderr = ''
  const url = Promise.withResolvers<string>()
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    const found = findAddress(stdout)
    if (found !== undefined) url.resolve(found)
  })
  // At this event both pipes have ended too.
  const ended = once(child, 'close').then(([code, signal]: (number | string | null)[]) => {
    running.delete(child)
    url.resolve('')
    return code ?? signal ?? 'unknown'
  })
  const hears = child.stdio[3] === null || child.stdio[3] === undefined ? ended : once(child.stdio[3], 'data')
  return { child, ended, hears, ready: url.promise, output: () => ({ stdout, stderr }) }
}

/** Returns the lines that a clean run does not print. Lines of npm itself are ignored. */
function findComplaints({ stdout, stderr }: { stdout: string; stderr: string }): string[] {
  const calm = /^\{"level":"(trace|debug|info)"|^npm (warn|notice)|^$/
  const stack = /^\s+at |\bError\b/
  return [
    ...stderr.split('\n').filter((line) => !calm.test(line)),
    ...stdout.split('\n').filter((line) => stack.test(line)),
  ]
}

/** Lists the processes that were started on the data folder and still exist. */
const listLeftovers = (): string[] =>
  readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && pid !== String(process.pid))
    .flatMap((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
        return command.includes(dataDir) ? [`process ${pid}: ${command}`] : []
      } catch {
        // The process has ended since the folder was read.
        return []
      }
    })

const pidFiles = (): string[] =>
  ['postgres/postmaster.pid', 'server.pid'].filter((file) => existsSync(join(dataDir, file)))

const between = (low: number, high: number) => low + Math.random() * (high - low)
const adminKey = () => readFileSync(join(dataDir, 'admin-key'), 'utf8')
const provider = await serveProvider(PROVIDER_MS, { company: 'Acme' })
let startMs = 2000
let sheet = ''

/**
 * Puts load on a server that is ready: all rows run, rows are read. Returns a function that ends the load.
 */
async function load(url: string): Promise<() => Promise<void>> {
  const call = callOver(url, adminKey())
  if (sheet === '') {
    const step = { action_id: 'http_api_call', inputs: { method: 'GET', endpoint: provider.url } }
    sheet = await makeSheet(call, ['name'], [step, step])
    await addRows(call, sheet, ROWS)
  }
  await call('POST', `${sheet}/run-all`)
  const wanted = [{ path: `${sheet}/rows/list`, body: { page_size: 100 } }, { path: '/user/' }]
  const crowd = startCallers({
    count: CALLERS,
    key: adminKey(),
    origin: () => url,
    wanted: (n) => wanted[n % 2] ?? { path: '/user/' },
    pauseMs: 20,
  })
  return () => crowd.stop()
}

async function play({ when, by, signals }: Round): Promise<string[]> {
  const startedAt = Date.now()
  const server = start(by)
  let endLoad = async () => {}
  let delay = between(0, startMs)
  if (when === 'load') {
    const url = await server.ready
    if (url === '') return [`did not start: ${await server.ended}`, server.output().stderr]
    if (by === 'node') startMs = Date.now() - startedAt
    endLoad = await load(url)
    delay = between(0, LOAD_MS)
  } else await Promise.race([server.hears, server.ended])
  await sleep(delay)
  const signalledAt = Date.now()
  const limit = AbortSignal.timeout(END_SECONDS * 1000 + 5000)
  limit.addEventListener('abort', () => server.child.kill('SIGKILL'))
  for (const [n, signal] of signals.entries()) {
    if (n > 0) await Promise.race([sleep(between(0, APART_MS)), server.ended])
    server.child.kill(signal)
  }
  const code = await server.ended
  const seconds = (Date.now() - signalledAt) / 1000
  const files = pidFiles()
  // PostgreSQL has ended. The shell that watched both processes notices it a moment later.
  for (let n = 0; n < 100 && listLeftovers().length > 0; n++) await sleep(20)
  await endLoad()
  say(
    `${by === 'npm' ? 'npm start' : 'node'}, ${signals.join(' and ')} ${Math.round(delay)} ms into ${when}: ended with ${code} after ${seconds.toFixed(1)} s`,
  )
  return [
    ...(code === 0 ? [] : [`ended with ${code}`]),
    ...(seconds < END_SECONDS ? [] : [`took ${seconds} s`]),
    ...files.map((file) => `${file} is left`),
    ...listLeftovers(),
    ...findComplaints(server.output()),
  ]
}

try {
  for (let n = 0; n < ROUNDS; n++) {
    const kind = KINDS[n % KINDS.length]
    if (kind === undefined) break
    const faults = await play(kind)
    check(`round ${n + 1}`, faults.length === 0 ? 'clean' : faults.join('\n  '), 'clean')
  }
  const last = start('node')
  const call = callOver(await last.ready, adminKey())
  const runs = async () =>
    (await call('GET', `${sheet}/runs`)).data as { state: string; cells_failed: number }[]
  await until('all runs end', async () => (await runs()).every((run) => run.state === 'finished'), 120)
  check(
    'cells that failed',
    (await runs()).reduce((sum, run) => sum + run.cells_failed, 0),
    0,
  )
  const page = (await call('POST', `${sheet}/rows/list`, { page_size: 1 })).data
  check('rows', page.total_count, ROWS)
  last.child.kill('SIGTERM')
  check('the last end', await last.ended, 0)
  sayVerdict('endings')
} finally {
  provider.close()
  for (const child of running) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
