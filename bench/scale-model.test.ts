import { expect, it } from 'vitest'
import { type Costs, LIMITS, type Load, planFor, roomFor, times } from './scale-model.ts'

const costs: Costs = {
  measured_on: 'paper',
  rows: 1,
  cells: {
    pure: { process_us: 20, postgres_us: 30, wal_bytes: 300 },
    http: { process_us: 200, postgres_us: 100, wal_bytes: 900 },
  },
  requests: {
    list_rows: { process_us: 500, postgres_us: 200, wal_bytes: 0 },
    add_row: { process_us: 10, postgres_us: 40, wal_bytes: 400 },
  },
}
const load: Load = { cells: { pure: 1000, http: 1000 }, requests: { list_rows: 100, add_row: 0 } }
const limits = { ...LIMITS, utilisation: 0.5, connections_per_process: 10 }

it('a plan adds up the costs of cells and requests, at the planned share of a processor', () => {
  const plan = planFor(costs, load, limits)
  // Cells take 220,000 µs and requests 50,000 µs per second. A core may provide 500,000 µs.
  expect(plan).toMatchObject({ workers: 1, apis: 1, clusters: 1, connections: 20, readCores: 0.04 })
  expect(plan.postgresCores).toBeCloseTo(0.3)
  expect(plan.walMegabytes).toBeCloseTo(1.2)
  expect(planFor(costs, times(load, 10), limits)).toMatchObject({ workers: 5, apis: 1 })
})

it('the limit with the largest share is reached first and decides the number of clusters', () => {
  const small = { ...limits, postgres_cores: 1, wal_bytes_per_second: 1e9, connections: 1e6 }
  expect(planFor(costs, times(load, 10), small)).toMatchObject({ first: 'processors', clusters: 3 })
  expect(planFor(costs, times(load, 10), { ...small, wal_bytes_per_second: 1e6 })).toMatchObject({
    first: 'log',
    clusters: 12,
  })
  expect(planFor(costs, load, { ...small, connections: 4 })).toMatchObject({
    first: 'connections',
    clusters: 5,
  })
})

it('the capacity of one PostgreSQL is the load that uses up the first limit', () => {
  // 64 cores provide 500,000 µs per second each, and the load takes 150,000 µs. The processes need fewer
  // connections than there are.
  expect(roomFor(costs, load, limits)).toBeCloseTo((64 * 500_000) / 150_000)
  const { shares } = planFor(costs, times(load, 100), limits)
  expect(shares).toEqual({ processors: expect.closeTo(30 / 64), log: expect.closeTo(0.3), connections: 0.27 })
})

it('an error names a kind of work that was not measured', () => {
  expect(() => planFor(costs, { cells: { magic: 1 }, requests: {} })).toThrow(
    'there is no measured cost of magic; measured are pure, http',
  )
})
