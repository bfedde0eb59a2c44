import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { RUNNING_AS_WORKER } from '#server/lib/log-lines.ts'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { makeApp, type TestApp } from '#test/plumbing/harness.ts'
import { COMPILED } from '#test/plumbing/server-process.ts'
import { until } from '#test/plumbing/until.ts'
import { PRICE } from './testing/fault-catalogue.ts'
import { type FlightSheet, makeFlightSheet, makeFlightApp } from './testing/flight-store-fixture.ts'
import { startWorkerChild, watch, type WorkerChild } from './testing/worker-child.ts'

const START = 10_000_000
const folder = mkdtempSync(join(tmpdir(), 'loam-recovery-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let calls = 0
beforeEach(() => {
  calls = 0
})

/** Starts a provider that answers after a while, and counts calls. */
async function serveProvider(ms: number): Promise<string> {
  const { origin } = await serveHttp((_request, response) => {
    calls += 1
    setTimeout(() => response.setHeader('content-type', 'application/json').end('{}'), ms)
  })
  return origin
}

/** Ends a worker with the test, whatever state the test left it in. */
function endWithTest(worker: WorkerChild): WorkerChild {
  onTestFinished(async () => {
    worker.child.kill('SIGKILL')
    await worker.ended
  })
  return worker
}
const startChild = async (app: TestApp, without = '') =>
  endWithTest(await startWorkerChild(app.databaseUrl, { without }))

const jobs = (app: TestApp) =>
  app.store.query<{ locked_by: string | null }>({
    text: 'select locked_by from graphile_worker.jobs union all select locked_by from graphile_groups.jobs',
  })

async function enqueue(app: TestApp, step: object, rows: number): Promise<FlightSheet> {
  const steps = [step, step, step] as { action_id: string; inputs: Record<string, unknown> }[]
  const sheet = await makeFlightSheet(app, steps, START)
  await sheet.addRows(rows)
  await sheet.run()
  return sheet
}

const finished = (sheet: FlightSheet) =>
  until('all rows finish', async () => (await sheet.flights()).length === 0)

/** Expects every cell once, complete and paid once, with nothing held and nothing left to do. */
async function expectExact(sheet: FlightSheet, rows: number, price: number): Promise<void> {
  const cells = await sheet.cells()
  expect(cells.length).toBe(rows * 3)
  expect(cells.filter((cell) => cell.status !== 'complete' || cell.credits !== price)).toEqual([])
  const credits = START - rows * 3 * price
  const charges = price === 0 ? 0 : rows * 3
  // Leases are given back when their worker has nothing to do, or is missed.
  await until('nothing is held', async () => (await sheet.accounts()).held === 0)
  expect(await sheet.accounts()).toEqual({ credits, ledger: credits, charges, held: 0, leases: 0 })
  await until('no job is left', async () => (await jobs(sheet.app)).length === 0)
}

describe('recovery', { timeout: 300_000 }, async () => {
  const app = await makeFlightApp()
  const whole = await makeApp({ services: { catalogue: await loadCatalogue() } })

  it.each([
    { parts: 'with fast parts', without: '', rows: 120 },
    { parts: 'without fast parts', without: 'all', rows: 40 },
  ])(
    'R1: a worker is killed in the middle of a run; another finishes it, nothing lost, nothing charged twice ($parts)',
    async ({ without, rows }) => {
      const url = await serveProvider(20)
      const victim = await startChild(app, without)
      await startChild(app, without)
      const sheet = await enqueue(app, { action_id: 'paid_call', inputs: { url } }, rows)
      await until('the run is under way', () => calls > rows / 2)
      victim.child.kill('SIGKILL')
      expect(await victim.ended).toBe('SIGKILL')
      await finished(sheet)
      await expectExact(sheet, rows, PRICE)
    },
  )

  it('R3: a worker that is suspended past its lease and goes on changes nothing', async () => {
    const url = await serveProvider(100)
    const sleeper = await startChild(app)
    const sheet = await enqueue(app, { action_id: 'paid_call', inputs: { url } }, 40)
    await until('the run is under way', () => calls >= 20)
    sleeper.child.kill('SIGSTOP')
    await startChild(app)
    await finished(sheet)
    await expectExact(sheet, 40, PRICE)
    expect(calls).toBeGreaterThan(120)
    sleeper.child.kill('SIGCONT')
    await sleep(1500)
    await expectExact(sheet, 40, PRICE)
    sleeper.child.kill('SIGTERM')
    expect(await sleeper.ended).toBe(0)
  })

  it('R9: SIGTERM under load: the process ends with 0, leaves no lease, and another goes on', async () => {
    const url = await serveProvider(30)
    const env = {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: COMPILED,
      DATABASE_URL: whole.databaseUrl,
      LOAM_DATA_DIR: folder,
      LOAM_SECRET: 'a secret for tests only',
      LOAM_ROLES: 'worker',
      LOAM_CONCURRENCY: '20',
      LOAM_EGRESS_ALLOW: '127.0.0.1',
    }
    const start = async () =>
      endWithTest(await watch(spawn(process.execPath, ['server/src/main.ts'], { env }), RUNNING_AS_WORKER))
    const first = await start()
    const step = { action_id: 'http_api_call', inputs: { method: 'GET', endpoint: url } }
    const sheet = await enqueue(whole, step, 100)
    await until('the run is under way', () => calls > 50)
    const asked = Date.now()
    first.child.kill('SIGTERM')
    expect(await first.ended).toBe(0)
    expect(Date.now() - asked).toBeLessThan(30_000)
    expect((await sheet.flights()).length).toBeGreaterThan(0)
    expect((await jobs(whole)).filter((job) => job.locked_by !== null)).toEqual([])
    await start()
    await finished(sheet)
    await expectExact(sheet, 100, 0)
  })

  it('R2: connections are cut again and again; the run is finished, exactly', async () => {
    const url = await serveProvider(60)
    await startChild(app)
    const sheet = await enqueue(app, { action_id: 'paid_call', inputs: { url } }, 150)
    await until('the run is under way', () => calls > 30)
    const client = new pg.Client({ connectionString: app.databaseUrl })
    await client.connect()
    onTestFinished(() => client.end())
    await client.query(`select set_config('loam.org', '*', false)`)
    for (let n = 0; n < 10; n += 1) {
      await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`)
      await sleep(200)
    }
    await until('all rows finish', async () => {
      const { rows } = await client.query('select from flights where org_id = $1 limit 1', [sheet.org.orgId])
      return rows.length === 0
    })
    await expectExact(sheet, 150, PRICE)
  })

  it('R6: a row that ends its worker is an error after three times; the rows in flight with it are not', async () => {
    const steps = ['free', 'poison', 'free'].map((action_id) => ({
      action_id,
      inputs: action_id === 'poison' ? { kill: '{{input.kill}}' } : {},
    }))
    const sheet = await makeFlightSheet(app, steps, START)
    await sheet.addRows(20)
    const [poison] = await sheet.addRows(1, { kill: 'yes' })
    await sheet.addRows(20)
    let deaths = 0
    const over = new AbortController()
    const supervise = (async () => {
      while (!over.signal.aborted) {
        const worker = await startWorkerChild(app.databaseUrl, { silenceMs: 1200 })
        const end = await Promise.race([worker.ended, finished(sheet).then(() => 'finished')])
        if (end !== 'finished') deaths += 1
        worker.child.kill('SIGKILL')
        await worker.ended
        if (end === 'finished') return
      }
    })()
    onTestFinished(() => over.abort())
    await sheet.run()
    await supervise
    expect(deaths).toBe(3)
    const cells = await sheet.cells()
    const bad = cells.filter((cell) => cell.status !== 'complete')
    expect(bad.map((cell) => [cell.row_id, cell.action, cell.status])).toEqual([
      [poison, 'poison_1', 'error'],
    ])
    expect(cells).toHaveLength(40 * 3 + 2)
  })
})
