// R12: a server with its embedded PostgreSQL is killed with -9 under load and during its start, alternately
// alone and together with the process that would end PostgreSQL after it. The next start must adopt or clear
// it within 10 s, and no acknowledged row may be lost.
// npm run faults:r12 [-- --rounds 20 --callers 4 --start-seconds 10]
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { callOver, makeSheet } from '#test/builders/sheets.ts'
import { serveProvider } from '#test/doubles/provider.ts'
import { UNLIMITED } from '#test/plumbing/installation.ts'
import { makeClusterFolder, prepareCluster } from '#test/plumbing/prepared-cluster.ts'
import { type ServerProcess, startServer } from '#test/plumbing/server-process.ts'
import { until } from '#test/plumbing/until.ts'
import { checkAcknowledged, createAddCalls, listRows, sayOutcomes } from './checks/acknowledged-rows.ts'
import { check, say, sayVerdict } from './checks/installation.ts'
import { type Crowd, isGood, startCallers } from './load/load.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '20' },
    callers: { type: 'string', default: '4' },
    'start-seconds': { type: 'string', default: '10' },
  },
})
const ROUNDS = Number(values.rounds)
const START_SECONDS = Number(values['start-seconds'])
const ROWS_PER_CALL = 5
const PATIENCE_SECONDS = 300
/** The longest time under load before the kill. */
const LOAD_MS = 2000
type Round = { orphan: boolean; whileStarting: boolean }
const KINDS: Round[] = [
  { orphan: true, whileStarting: false },
  { orphan: false, whileStarting: false },
  { orphan: true, whileStarting: true },
]

const folder = makeClusterFolder('r12')
const dataDir = join(folder, 'data')
prepareCluster(dataDir)
const env = {
  LOAM_DATA_DIR: dataDir,
  LOAM_EGRESS_ALLOW: '127.0.0.1',
  LOAM_LOG_LEVEL: 'info',
  ...UNLIMITED,
}

/**
 * Returns the processes with this name that were started on the data folder: `postgres`, or `sh` for the
 * process that ends it.
 */
function listProcesses(name: string): number[] {
  const found = readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        return command.includes(dataDir) && readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === name
      } catch {
        // The process has ended since the folder was read.
        return false
      }
    })
    .map(Number)
  // A child that PostgreSQL has just created still has the command line of its parent.
  return found.filter((pid) => !found.includes(readParent(pid)))
}

function readParent(pid: number): number {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return 0
  }
}

/** Kills a process of this program's own server. The process may have ended already. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === 'ESRCH')) throw cause
  }
}

/** Returns the process that has the data folder, or had it last. */
const readOwner = () => (JSON.parse(readFileSync(join(dataDir, 'server.pid'), 'utf8')) as { pid: number }).pid

let server: ServerProcess | undefined
let starting: Promise<ServerProcess> | undefined
let url = ''
async function start(): Promise<number> {
  const began = Date.now()
  server = await startServer(env)
  if (server.url === '') throw new Error(`the server did not start: ${server.stderr()}`)
  url = server.url
  return (Date.now() - began) / 1000
}

/** Kills the server, and with `orphan` also the process that would end PostgreSQL after it. */
async function killServer(victim: ServerProcess, orphan: boolean): Promise<boolean> {
  if (orphan) for (const pid of listProcesses('sh')) kill(pid)
  await victim.stop('SIGKILL')
  return listProcesses('postgres').length > 0
}

const provider = await serveProvider(20)
let crowd: Crowd | undefined
try {
  await start()
  await server?.stop()
  // The time that this machine takes for a start with nothing to clear.
  const ordinary = await start()
  say(`a start after an ordinary end takes ${ordinary.toFixed(1)} s`)
  const key = readFileSync(join(dataDir, 'admin-key'), 'utf8')
  const call = () => callOver(url, key)
  const step = { action_id: 'http_api_call', inputs: { method: 'GET', endpoint: provider.url } }
  const sheet = await makeSheet(call(), ['name'], [step])
  const wanted = createAddCalls(sheet, ROWS_PER_CALL)
  crowd = startCallers({ count: Number(values.callers), key, origin: () => url, wanted, pauseMs: 20 })
  const { exchanges } = crowd

  let slowest = 0
  let orphans = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    const { orphan, whileStarting } = KINDS[round % KINDS.length] ?? { orphan: true, whileStarting: false }
    const before = exchanges.filter(isGood).length
    await until('rows are taken', () => exchanges.filter(isGood).length > before, PATIENCE_SECONDS)
    await sleep(Math.random() * LOAD_MS)
    if (server === undefined) throw new Error('there is no server')
    let left = await killServer(server, orphan)
    if (whileStarting) {
      starting = startServer(env)
      const { pid: former } = server.child
      const isStarted = () => readOwner() !== former && listProcesses('sh').length > 0
      await until('PostgreSQL is started again', isStarted, PATIENCE_SECONDS)
      for (const pid of listProcesses('sh')) kill(pid)
      kill(readOwner())
      await (
        await starting
      ).ended
      left = listProcesses('postgres').length > 0
    }
    if (left) orphans += 1
    const seconds = await start()
    slowest = Math.max(slowest, seconds)
    say(
      `round ${round + 1}: killed ${whileStarting ? 'under load, then while it started' : 'under load'}` +
        `${left ? ', PostgreSQL was left' : ''}; ready after ${seconds.toFixed(1)} s`,
    )
    const postmasters = listProcesses('postgres').length
    if (postmasters !== 1) check('PostgreSQL processes on the folder', postmasters, 1)
  }
  await until('rows are taken after the last kill', () => exchanges.slice(-1).every(isGood), PATIENCE_SECONDS)
  await crowd.stop()
  const undone = async () => (await listRows(call(), sheet)).filter(({ status }) => status !== 'complete')
  await until('every row is run', async () => (await undone()).length === 0, PATIENCE_SECONDS)

  say(`${exchanges.length} requests, also to what was not there:`)
  sayOutcomes(exchanges)
  say(`PostgreSQL was left behind ${orphans} times; the slowest start took ${slowest.toFixed(1)} s`)
  check('PostgreSQL was left behind', orphans > 0, true)
  check(
    `every start at most ${START_SECONDS} s later than an ordinary one`,
    slowest - ordinary <= START_SECONDS,
    true,
  )
  await checkAcknowledged(call(), sheet, exchanges)
  check('the end', await server?.stop(), 0)
  check('processes left', listProcesses('postgres').length, 0)
  sayVerdict('R12')
} finally {
  await crowd?.stop()
  provider.close()
  if (server?.child.exitCode === null) await server.stop('SIGKILL')
  for (const name of ['sh', 'postgres']) for (const pid of listProcesses(name)) kill(pid)
  rmSync(folder, { recursive: true, force: true })
}
