// R7: the disk under the embedded PostgreSQL is full, again and again, while rows are added, read and run.
// Writes must be answered with 503, no acknowledged row may be lost, no cell may end because of it, and
// everything must recover by itself. Needs a separate file system: root mounts one, other users do in a user
// namespace; where neither works PostgreSQL is made to refuse writes.
// npm run faults:r7 [-- --rounds 3 --seconds 15 --callers 6 --megabytes 400 --hang-seconds 20 --no-mount]
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { callOver, makeSheet } from '#test/builders/sheets.ts'
import { serveProvider } from '#test/doubles/provider.ts'
import { UNLIMITED } from '#test/plumbing/installation.ts'
import { prepareCluster } from '#test/plumbing/prepared-cluster.ts'
import { startServer } from '#test/plumbing/server-process.ts'
import { until } from '#test/plumbing/until.ts'
import { fillWal, findMount, openRefusingDatabase, openSmallDisk } from './breaks/small-disk.ts'
import { checkAcknowledged, createAddCalls, listRows, sayOutcomes } from './checks/acknowledged-rows.ts'
import { check, say, sayVerdict } from './checks/installation.ts'
import { hung, isGood, startCallers } from './load/load.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    /** The time for which the disk stays full. */
    seconds: { type: 'string', default: '15' },
    callers: { type: 'string', default: '6' },
    megabytes: { type: 'string', default: '400' },
    'hang-seconds': { type: 'string', default: '20' },
    'no-mount': { type: 'boolean', default: false },
    /** The folder in which the file system is mounted. The program starts itself with this option. */
    on: { type: 'string' },
  },
})
const CALLERS = Number(values.callers)
/** The number of consecutive good responses for each caller after which requests count as recovered. */
const WELL = 10
const PATIENCE_SECONDS = 300

if (values.on === undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'loam-r7-'))
  // If started by root, PostgreSQL runs as another user, who must be able to reach its folder.
  chmodSync(folder, 0o755)
  const way = values['no-mount'] ? null : findMount(folder, Number(values.megabytes))
  try {
    if (way === null) {
      say('no file system can be mounted here: PostgreSQL is made to refuse writes as on a full disk')
      await run(folder, false)
    } else {
      const [program = '', ...args] = way([...process.execArgv, ...process.argv, '--on', folder])
      process.exitCode = spawnSync(program, args, { stdio: 'inherit' }).status ?? 1
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
} else await run(values.on, true)

async function run(folder: string, isMounted: boolean): Promise<void> {
  const dataDir = join(folder, 'data')
  prepareCluster(dataDir)
  const provider = await serveProvider(20)
  const server = await startServer({
    LOAM_DATA_DIR: dataDir,
    LOAM_EGRESS_ALLOW: '127.0.0.1',
    LOAM_LOG_LEVEL: 'error',
    ...UNLIMITED,
  })
  if (server.url === '') throw new Error(`the server did not start: ${server.stderr()}`)
  const owner = JSON.parse(readFileSync(join(dataDir, 'server.pid'), 'utf8')) as { url: string }
  const disk = isMounted ? openSmallDisk(folder) : await openRefusingDatabase(owner.url)
  const key = readFileSync(join(dataDir, 'admin-key'), 'utf8')
  const call = callOver(server.url, key)
  const step = { action_id: 'http_api_call', inputs: { method: 'GET', endpoint: provider.url } }
  const sheet = await makeSheet(call, ['name'], [step, step])
  const add = createAddCalls(sheet, 20)
  const reads = [{ path: `${sheet}/rows/list`, body: {} }, { path: '/user/' }]
  const crowd = startCallers({
    count: CALLERS,
    key,
    origin: () => server.url,
    wanted: (n) => reads[n % 3] ?? add(),
    pauseMs: 100,
    hangSeconds: Number(values['hang-seconds']),
  })
  const { exchanges } = crowd
  try {
    for (let round = 1; round <= Number(values.rounds); round += 1) {
      const known = exchanges.length
      await until('requests are answered', () => exchanges.length > known + CALLERS * WELL, PATIENCE_SECONDS)
      await disk.fill()
      const from = Date.now()
      await until(
        'a write is refused',
        () => exchanges.some((one) => one.askedAt > from && one.status === 503),
        PATIENCE_SECONDS,
      )
      // Every other time the log of PostgreSQL has no room either, and PostgreSQL is down until it has.
      const wal = isMounted && round % 2 === 0 ? await fillWal(owner.url) : 0
      if (wal > 0) say(`PostgreSQL went down after ${wal} MB more of its log`)
      await sleep(Number(values.seconds) * 1000)
      await disk.empty()
      const emptied = Date.now()
      await until(
        'all is well again',
        () => {
          const latest = exchanges.slice(-WELL * CALLERS)
          return latest.every((one) => isGood(one) && one.askedAt > emptied)
        },
        PATIENCE_SECONDS,
      )
      const during = exchanges.filter((one) => one.endedAt > from && one.askedAt < emptied)
      const after = exchanges.filter((one) => one.askedAt > emptied && !isGood(one))
      const troubled = Math.max(emptied, ...after.map((one) => one.endedAt)) - emptied
      say(`round ${round}: full for ${Math.round((emptied - from) / 1000)} s, ${during.length} requests`)
      sayOutcomes(during)
      say(`  well again ${(troubled / 1000).toFixed(1)} s after there was room`)
    }
    await crowd.stop()
    const unfinished = async () =>
      (await listRows(call, sheet)).filter(({ status }) => !/complete|has/.test(status))
    await until('every row is run', async () => (await unfinished()).length === 0, PATIENCE_SECONDS)

    const refused = exchanges.filter((one) => one.status === 503)
    const others = exchanges.filter((one) => !isGood(one) && one.status !== 503)
    check('answers other than 2xx and 503', others.length, 0)
    check(`requests without an answer within ${values['hang-seconds']} s`, exchanges.filter(hung).length, 0)
    check('503 without Retry-After', refused.filter((one) => one.retryAfter === null).length, 0)
    check(
      'writes that were refused',
      refused.some(({ wanted }) => wanted.path === `${sheet}/rows`),
      true,
    )
    await checkAcknowledged(call, sheet, exchanges)
    const failed = (await listRows(call, sheet)).filter(({ status }) => status !== 'complete')
    check('rows with a cell that failed', failed.length, 0)
    check('the server runs', server.child.exitCode, null)
    check('the end', await server.stop(), 0)
    sayVerdict('R7')
  } finally {
    await crowd.stop()
    provider.close()
    await server.stop('SIGKILL')
    if (process.exitCode !== 0) say(server.stderr().slice(-3000))
  }
}
