// Measures P1 to P4, P9, P11 to P20, and the costs of cells and requests: rows through the public API of a
// real server, every cell durable. The peers of P1 run in the same run on the same PostgreSQL (embedded,
// default settings, fsync on).
// npm run bench:engine [-- --only p1,p3 --rows 20000 --rounds 11 --cached 100000 --reads 100 --queued 1000000 --huge 10000000
//   --costs bench/engine/engine-costs.json --without peek,handed-rows]
// npm run bench:engine -- --tags [--minutes 24 --without peek --only p1,p12 --scale 1] measures what each fast part buys.
import { parseArgs } from 'node:util'
import { reasonOf } from '#server/lib/errors.ts'
import { type Installation, openInstallation } from '#test/plumbing/installation.ts'
import { measureBuiltIn } from './engine/engine-built-in.ts'
import { HTTP_CALLS, measureCalls, MODEL_CALLS, WATERFALLS } from './engine/engine-calls.ts'
import { measureCosts } from './engine/engine-costs.ts'
import { measureFloods } from './engine/engine-floods.ts'
import { measureCache, measureFormulas } from './engine/engine-kinds.ts'
import { measureFairness, measureIdle } from './engine/engine-latency.ts'
import { type Line, line } from './engine/engine-line.ts'
import { measurePrices } from './engine/engine-prices.ts'
import { measureProvider, measureWorkers } from './engine/engine-provider.ts'
import { measureReaders } from './engine/engine-readers.ts'
import { measureSize } from './engine/engine-size.ts'
import { measureThroughput } from './engine/engine-throughput.ts'
import { measureTags } from './engine/price-tags.ts'
import { startWithout } from './parts/fast-parts.ts'
import { note, print } from './parts/report.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    /** The fast parts that the servers run without; with --tags, those that are measured. */
    without: { type: 'string', default: '' },
    tags: { type: 'boolean', default: false },
    /** The time that --tags may take, and the factor of its sizes. */
    minutes: { type: 'string', default: '24' },
    scale: { type: 'string', default: '1' },
    rows: { type: 'string', default: '20000' },
    cached: { type: 'string', default: '100000' },
    reads: { type: 'string', default: '100' },
    crowd: { type: 'string', default: '100000' },
    /**
     * The number of rounds: odd, so that the median is the value of one round. Rounds vary by about as much
     * as the bars allow.
     */
    rounds: { type: 'string', default: '11' },
    /** The number of cells of each action of P20. */
    builtin: { type: 'string', default: '5000' },
    /** The share of the full size of the floods of P16. */
    share: { type: 'string', default: '1' },
    queued: { type: 'string', default: '1000000' },
    /** The number of rows of P17's largest sheet, which takes long to fill. */
    huge: { type: 'string', default: '0' },
    /** The file to which the costs are written, for bench/scale-model.ts. */
    costs: { type: 'string' },
  },
})
const [rows, rounds] = [Number(values.rows), Number(values.rounds)]
const BENCHES: Record<string, (installation: Installation) => Promise<Line[]>> = {
  p1: (installation) => measureThroughput(installation, { rows, rounds }),
  p2: measureIdle,
  p3: (installation) => measureProvider(installation, { cells: 10_000 }),
  p4: (installation) => measureFairness(installation, { rows: Number(values.crowd) }),
  p9: measureWorkers,
  p11: (installation) => measureFormulas(installation, { rows, rounds }),
  p12: (installation) => measureCalls(installation, HTTP_CALLS, { cells: rows, rounds }),
  p13: (installation) => measureCalls(installation, WATERFALLS, { cells: rows, rounds }),
  p14: (installation) => measureCalls(installation, MODEL_CALLS, { cells: rows, rounds }),
  p15: (installation) => measureCache(installation, { rows: Number(values.cached), rounds }),
  p16: (installation) => measureFloods(installation, { share: Number(values.share) }),
  p17: (installation) =>
    measureSize(installation, { queued: Number(values.queued), huge: Number(values.huge) }),
  costs: (installation) => measureCosts(installation, { rows, out: values.costs }),
  p18: (installation) => measurePrices(installation, { rows, rounds }),
  p19: (installation) => measureReaders(installation, { rows, rounds, reads: Number(values.reads) }),
  p20: (installation) => measureBuiltIn(installation, { cells: Number(values.builtin), rounds }),
}

const DEFAULT = 'p1,p2,p3,p4,p9,p11,p12,p13,p14,p15,p16,p17,p18,p19,p20,costs'
const without = values.without.split(',').flatMap((name) => name.trim() || [])
const start = startWithout(without)

async function tag(): Promise<void> {
  const installation = await openInstallation()
  try {
    const tags = await measureTags(installation, {
      parts: without,
      bars: (values.only ?? '').toUpperCase().split(',').filter(Boolean),
      minutes: Number(values.minutes),
      scale: Number(values.scale),
    })
    print('What each fast part buys: medians in turns, and the processor time of Loam and PostgreSQL', tags)
  } finally {
    await installation.close()
  }
}

async function bench(): Promise<void> {
  const names = (values.only ?? DEFAULT).toLowerCase().split(',')
  const unknown = names.find((name) => BENCHES[name] === undefined)
  if (unknown !== undefined)
    throw new Error(`--only ${unknown}: choose among ${Object.keys(BENCHES).join(', ')}`)
  const lines: Line[] = []
  try {
    for (const name of names) {
      note(`${name.toUpperCase()} ...`)
      const installation = await openInstallation(start)
      try {
        lines.push(...((await BENCHES[name]?.(installation)) ?? []))
      } catch (cause) {
        // The other benches are measured all the same.
        note(
          `${name.toUpperCase()} was not measured: ${cause instanceof Error ? cause.stack : String(cause)}`,
        )
        lines.push(line(name.toUpperCase(), 'not measured', reasonOf(cause), { met: 'NO' }))
        process.exitCode = 1
      } finally {
        await installation.close()
      }
    }
  } finally {
    const than = without.length === 0 ? '' : `, without ${without.join(', ')}`
    print(
      `The engine${than} (P1: ${values.rows} rows x 5 actions, medians of ${values.rounds} rounds)`,
      lines,
    )
  }
}

await (values.tags ? tag() : bench())
