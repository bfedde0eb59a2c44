// Measures the throughput over the size of a run, from 1,000 rows to 300,000 (--full: 1,000,000), of pure
// actions, formulas and HTTP calls. Prints a table and draws a plot.
// npm run bench:engine:plot [-- --full, or --max 30000; --out docs/engine-throughput.svg]
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Call, callOver, runAll, type Step } from '#test/builders/sheets.ts'
import { openInstallation } from '#test/plumbing/installation.ts'
import { startServer } from '#test/plumbing/server-process.ts'
import { median, note, print } from '../parts/report.ts'
import { HTTP_CALLS } from './engine-calls.ts'
import { drawChart, type Point, type Series } from './engine-chart.ts'
import { FORMULAS } from './engine-kinds.ts'
import { count } from './engine-line.ts'
import { ACTIONS, makeLoad, NO_OP } from './engine-load.ts'

const { values } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    max: { type: 'string', default: '300000' },
    out: { type: 'string', default: 'docs/engine-throughput.svg' },
  },
})
const SIZES = [1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
/**
 * The number of cells to run for each size. Short runs are repeated, because a moment of noise weighs more in
 * them.
 */
const CELLS_PER_SIZE = 75_000
const MAX_TIMES = 5
/**
 * The limit in microseconds per cell. A run that takes longer than this and longer than a minute is aborted.
 */
const PATIENCE_US = 5000

const max = values.full ? Number.POSITIVE_INFINITY : Number(values.max)
const installation = await openInstallation()
const outside = await startServer({}, [process.execPath, 'bench/parts/outside-server.ts'])
try {
  const { key } = await installation.makeOrg('Plot')
  const server = await installation.startServer()
  const call = callOver(server.url, key)
  const kinds: Record<string, Step[]> = {
    [`${ACTIONS} pure actions a row`]: Array.from({ length: ACTIONS }, () => NO_OP),
    [`${ACTIONS} formulas a row`]: FORMULAS,
    'one HTTP call a row': [HTTP_CALLS.step(outside.url)],
  }
  const series: Series[] = []
  for (const [name, chain] of Object.entries(kinds))
    series.push({ name, points: await measureSizes(call, name, chain) })
  await server.stop()
  print(
    'Throughput over the size of a run',
    series.flatMap(({ name, points }) =>
      points.map(({ rows, cellsPerSecond }) => ({
        kind: name,
        rows: count(rows),
        'cells/s': count(cellsPerSecond),
        'µs/cell': (1e6 / cellsPerSecond).toFixed(1),
      })),
    ),
  )
  writeFileSync(values.out, drawChart(series, 'Throughput and cost of a cell over the size of a run'))
  note(`written to ${values.out}`)
} finally {
  await outside.stop()
  await installation.close()
}

async function measureSizes(call: Call, name: string, chain: Step[]): Promise<Point[]> {
  await runAll(call, await makeLoad(call, 3000, chain))
  const points: Point[] = []
  for (const rows of SIZES.filter((size) => size <= max)) {
    const cells = rows * chain.length
    const times = Math.max(1, Math.min(MAX_TIMES, Math.round(CELLS_PER_SIZE / cells)))
    const rates: number[] = []
    for (let n = 0; n < times; n += 1) {
      const base = await makeLoad(call, rows, chain)
      rates.push(cells / (await runAll(call, base, 25, 60 + (cells * PATIENCE_US) / 1e6)))
    }
    points.push({ rows, cellsPerSecond: median(rates) })
    note(`${name}, ${count(rows)} rows: ${count(median(rates))} cells/s, median of ${times}`)
  }
  return points
}
