// Computes what one PostgreSQL, N workers and M API processes can handle, from the costs that `npm run
// bench:engine -- --only costs` measures.
// npm run bench:scale [-- --costs bench/engine/engine-costs.json --load bench/scale-load.json --steps 1,10,100]
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { print } from './parts/report.ts'

/**
 * The cost of one cell or request: processor time of a Loam process and of PostgreSQL, and bytes of the
 * write-ahead log.
 */
export type Cost = { process_us: number; postgres_us: number; wal_bytes: number }
export type Costs = {
  measured_on: string
  rows: number
  cells: Record<string, Cost>
  requests: Record<string, Cost>
}

/** The work per second at the busiest time: cells and requests by kind. */
export type Load = { cells: Record<string, number>; requests: Record<string, number> }

/**
 * The limits: how much of a machine may be used before waiting users notice, and the size of the largest
 * PostgreSQL.
 */
export type Limits = {
  /** The planned share of a processor. Above it waiting times grow. */
  utilisation: number
  postgres_cores: number
  wal_bytes_per_second: number
  /** The connections that a Loam process may open, and the connections that PostgreSQL serves well. */
  connections_per_process: number
  connections: number
}

export const LIMITS: Limits = {
  utilisation: 0.7,
  postgres_cores: 64,
  wal_bytes_per_second: 400_000_000,
  connections_per_process: 40,
  connections: 2000,
}

export type Plan = {
  workers: number
  apis: number
  postgresCores: number
  walMegabytes: number
  connections: number
  /**
   * The share of each limit of one PostgreSQL that the load takes. The limit with the largest share is
   * reached first.
   */
  shares: { processors: number; log: number; connections: number }
  first: keyof Plan['shares']
  /**
   * The number of PostgreSQL servers with their replicas and processes. Each serves a group of organisations.
   */
  clusters: number
  /** The cores of PostgreSQL that lists take. Replicas can serve lists. */
  readCores: number
}

/** The kinds of requests that change nothing. Replicas can serve them. */
const READS: ReadonlySet<string> = new Set(['list_rows'])

export function planFor(costs: Costs, load: Load, limits: Limits = LIMITS): Plan {
  const cells = sumOf(costs.cells, load.cells)
  const requests = sumOf(costs.requests, load.requests)
  const reads = sumOf(costs.requests, pick(load.requests, READS))
  const perCore = 1e6 * limits.utilisation
  const workers = Math.max(1, Math.ceil(cells.process_us / perCore))
  const apis = Math.max(1, Math.ceil(requests.process_us / perCore))
  const postgresCores = (cells.postgres_us + requests.postgres_us) / perCore
  const wal = cells.wal_bytes + requests.wal_bytes
  const connections = (workers + apis) * limits.connections_per_process
  const shares = {
    processors: postgresCores / limits.postgres_cores,
    log: wal / limits.wal_bytes_per_second,
    connections: connections / limits.connections,
  }
  const first = largestOf(shares)
  return {
    workers,
    apis,
    postgresCores,
    walMegabytes: wal / 1e6,
    connections,
    shares,
    first,
    clusters: Math.max(1, Math.ceil(shares[first])),
    readCores: reads.postgres_us / perCore,
  }
}

/**
 * Returns how many times the load one PostgreSQL can handle within the limits, with as many processes as that
 * needs.
 */
export function roomFor(costs: Costs, load: Load, limits: Limits = LIMITS): number {
  const fits = (factor: number) => {
    const { shares, first } = planFor(costs, times(load, factor), limits)
    return shares[first] <= 1
  }
  let [held, over] = [0, 1]
  for (; fits(over) && over < 1e9; over *= 2) held = over
  for (let step = 0; step < 40; step += 1) {
    const middle = (held + over) / 2
    if (fits(middle)) held = middle
    else over = middle
  }
  return held
}

export function times(load: Load, factor: number): Load {
  const scale = (rates: Record<string, number>) =>
    Object.fromEntries(Object.entries(rates).map(([kind, rate]) => [kind, rate * factor]))
  return { cells: scale(load.cells), requests: scale(load.requests) }
}

function sumOf(costs: Record<string, Cost>, rates: Record<string, number>): Cost {
  const sum: Cost = { process_us: 0, postgres_us: 0, wal_bytes: 0 }
  for (const [kind, rate] of Object.entries(rates)) {
    const cost = costs[kind]
    if (cost === undefined)
      throw new Error(`there is no measured cost of ${kind}; measured are ${Object.keys(costs).join(', ')}`)
    sum.process_us += rate * cost.process_us
    sum.postgres_us += rate * cost.postgres_us
    sum.wal_bytes += rate * cost.wal_bytes
  }
  return sum
}

function pick(rates: Record<string, number>, kinds: ReadonlySet<string>): Record<string, number> {
  return Object.fromEntries(Object.entries(rates).filter(([kind]) => kinds.has(kind)))
}

function largestOf(shares: Plan['shares']): keyof Plan['shares'] {
  const order: (keyof Plan['shares'])[] = ['processors', 'log', 'connections']
  return order.reduce((most, name) => (shares[name] > shares[most] ? name : most))
}

function printPlans(costs: Costs, load: Load, steps: number[]): void {
  const rows = steps.map((step) => {
    const plan = planFor(costs, times(load, step))
    const rate = Object.values(load.cells).reduce((sum, one) => sum + one * step, 0)
    return {
      load: `${step} x`,
      'cells/s': Math.round(rate).toLocaleString('en'),
      workers: plan.workers,
      API: plan.apis,
      'PostgreSQL cores': plan.postgresCores.toFixed(1),
      'of them reads': plan.readCores.toFixed(1),
      'WAL MB/s': plan.walMegabytes.toFixed(1),
      connections: plan.connections,
      'met first': `${plan.first} (${(plan.shares[plan.first] * 100).toFixed(0)} %)`,
      clusters: plan.clusters,
    }
  })
  print(`What the load needs, by costs measured on ${costs.measured_on}`, rows)
  process.stdout.write(
    `One PostgreSQL of ${LIMITS.postgres_cores} cores holds ${roomFor(costs, load).toFixed(1)} x the load.\n`,
  )
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values } = parseArgs({
    options: {
      costs: { type: 'string', default: 'bench/engine/engine-costs.json' },
      load: { type: 'string', default: 'bench/scale-load.json' },
      steps: { type: 'string', default: '1,10,100' },
    },
  })
  const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))
  printPlans(read(values.costs) as Costs, read(values.load) as Load, values.steps.split(',').map(Number))
}
