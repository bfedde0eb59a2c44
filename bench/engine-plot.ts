// Throughput over the size of a run, from 1,000 rows to 300,000 (--full: 1,000,000), as a table and as a plot.
// npm run bench:engine:plot [-- --full, or --max 30000; --out docs/engine-throughput.svg]
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { openInstallation } from '#test/installation.ts'
import { runAll } from '#test/sheets.ts'
import { drawChart, type Point } from './engine-chart.ts'
import { count } from './engine-line.ts'
import { ACTIONS, makeLoad, startLoam } from './engine-load.ts'
import { median, note, print } from './report.ts'

const { values } = parseArgs({
  options: {
    full: { type: 'boolean', default: false },
    max: { type: 'string', default: '300000' },
    out: { type: 'string', default: 'docs/engine-throughput.svg' },
  },
})
const SIZES = [1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
/** Short runs are repeated, as a moment of noise weighs more in them. */
const CELLS_PER_SIZE = 75_000
const MAX_TIMES = 5
/** A run that takes longer than this many microseconds a cell, and a minute, is given up. */
const PATIENCE_US = 500

const max = values.full ? Number.POSITIVE_INFINITY : Number(values.max)
const installation = await openInstallation()
try {
  const { call, stop } = await startLoam(installation)
  await runAll(call, await makeLoad(call, 3000))
  const points: Point[] = []
  for (const rows of SIZES.filter((size) => size <= max)) {
    const times = Math.max(1, Math.min(MAX_TIMES, Math.round(CELLS_PER_SIZE / (rows * ACTIONS))))
    const limit = 60 + (rows * ACTIONS * PATIENCE_US) / 1e6
    const rates: number[] = []
    for (let n = 0; n < times; n += 1) {
      const base = await makeLoad(call, rows)
      rates.push((rows * ACTIONS) / (await runAll(call, base, 25, limit)))
    }
    points.push({ rows, cellsPerSecond: median(rates) })
    note(`${count(rows)} rows: ${count(median(rates))} cells/s, median of ${times}`)
  }
  await stop()
  print(
    `Throughput over the size of a run, ${ACTIONS} actions a row`,
    points.map(({ rows, cellsPerSecond }) => ({
      rows: count(rows),
      'cells/s': count(cellsPerSecond),
      'µs/cell': (1e6 / cellsPerSecond).toFixed(1),
    })),
  )
  writeFileSync(values.out, drawChart(points, 'Throughput and cost of a cell over the size of a run'))
  note(`written to ${values.out}`)
} finally {
  await installation.close()
}
