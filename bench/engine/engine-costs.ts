import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { addRows, type Call, callOver, makeSheet, type Step } from '#test/builders/sheets.ts'
import type { Installation } from '#test/plumbing/installation.ts'
import { startServer } from '#test/plumbing/server-process.ts'
import { readCpuSeconds } from '../parts/cpu-time.ts'
import { note } from '../parts/report.ts'
import type { Cost, Costs } from '../scale-model.ts'
import { HTTP_CALLS, MODEL_CALLS, WATERFALLS } from './engine-calls.ts'
import { FORMULAS } from './engine-kinds.ts'
import { count, type Line, line } from './engine-line.ts'
import { ACTIONS, makeLoad, NO_OP, runToTheEnd } from './engine-load.ts'

const CREDITS = 10_000_000
const WARM_UP = 2000
const READS = 2000
const READERS = 4
const PAGE = 20

/**
 * Measures the processor time and the bytes of write-ahead log that a cell of each kind, a read and an added
 * row take.
 */
export async function measureCosts(
  installation: Installation,
  { rows, out }: { rows: number; out: string | undefined },
): Promise<Line[]> {
  const outside = await startServer({}, [process.execPath, 'bench/parts/outside-server.ts'])
  const { key } = await installation.makeOrg('Costs', CREDITS)
  const server = await installation.startServer({
    LOAM_PROVIDER_KEY_HUNTER: 'bench',
    LOAM_PROVIDER_URL_HUNTER: outside.url,
    LOAM_MODEL_BASE_URL: `${outside.url}/v1`,
  })
  const call = callOver(server.url, key)
  const pids = { server: server.child.pid ?? 0, postgres: installation.postgresPid() }
  const read = async () => ({
    server: readCpuSeconds([pids.server]),
    postgres: readCpuSeconds([pids.postgres]),
    wal: await walPosition(installation),
  })
  const costOf = async (items: number, work: () => Promise<unknown>): Promise<Cost> => {
    const before = await read()
    await work()
    const after = await read()
    const each = (used: number) => Number((used / items).toFixed(1))
    return {
      process_us: each((after.server - before.server) * 1e6),
      postgres_us: each((after.postgres - before.postgres) * 1e6),
      wal_bytes: Math.round((after.wal - before.wal) / items),
    }
  }
  try {
    const chains: Record<string, Step[]> = {
      pure: Array.from({ length: ACTIONS }, () => NO_OP),
      formula: FORMULAS,
      http: [HTTP_CALLS.step(outside.url)],
      waterfall: [WATERFALLS.step(outside.url)],
      model: [MODEL_CALLS.step(outside.url)],
    }
    const cells: Record<string, Cost> = {}
    for (const [kind, chain] of Object.entries(chains)) {
      await runToTheEnd(call, await makeLoad(call, WARM_UP, chain))
      const base = await makeLoad(call, rows, chain)
      cells[kind] = await costOf(rows * chain.length, () => runToTheEnd(call, base))
      note(`costs of ${kind}: ${describe(cells[kind])}`)
    }
    cells['cached'] = await measureHits(call, rows, costOf)
    const requests = {
      list_rows: await costOf(READS, await makeReads(call, READS)),
      add_row: await measureAdding(call, rows, costOf),
    }
    const costs: Costs = { measured_on: describeMachine(), rows, cells, requests }
    if (out !== undefined) writeFileSync(out, `${JSON.stringify(costs, null, 2)}\n`)
    return Object.entries({ ...cells, ...requests }).map(([kind, cost]) =>
      line('costs', kind, describe(cost)),
    )
  } finally {
    await server.stop()
    await outside.stop()
  }
}

type CostOf = (items: number, work: () => Promise<unknown>) => Promise<Cost>

async function measureHits(call: Call, rows: number, costOf: CostOf): Promise<Cost> {
  const chain = [NO_OP, NO_OP, NO_OP]
  const base = await makeLoad(call, rows, chain)
  await call('PATCH', base, { cache_enabled: true })
  await runToTheEnd(call, base)
  return costOf(rows * chain.length, () => runToTheEnd(call, base))
}

/**
 * Prepares reads of a small sheet and runs them once: the first thousands run code that is not compiled yet.
 */
async function makeReads(call: Call, reads: number): Promise<() => Promise<unknown>> {
  const shown = await makeLoad(call, 1000)
  await runToTheEnd(call, shown)
  const readAll = () =>
    Promise.all(
      Array.from({ length: READERS }, async () => {
        for (let n = 0; n < reads / READERS; n += 1)
          await call('POST', `${shown}/rows/list`, { page_size: PAGE })
      }),
    )
  await readAll()
  return readAll
}

async function measureAdding(call: Call, rows: number, costOf: CostOf): Promise<Cost> {
  const base = await makeSheet(call, ['name'])
  return costOf(rows, () => addRows(call, base, rows, (n) => ({ name: `Ada Lovelace ${n}` })))
}

async function walPosition({ store }: Installation): Promise<number> {
  const [row] = await store.query<{ bytes: string }>({
    text: `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as bytes`,
  })
  return Number(row?.bytes)
}

const describe = ({ process_us, postgres_us, wal_bytes }: Cost): string =>
  `${count(process_us)} µs of Loam, ${count(postgres_us)} µs of PostgreSQL, ${count(wal_bytes)} bytes of WAL`

function describeMachine(): string {
  const [first] = cpus()
  return `${cpus().length} cores, ${first?.model.trim() ?? 'unknown'}`
}
