import { loadCatalogue } from '#server/catalog/registry.ts'
import type { Store } from '#server/database/connection/db.ts'
import { setPrice } from '#server/money/prices.ts'
import { type Call, runAll, type Step } from '#test/builders/sheets.ts'
import type { ServerProcess } from '#test/plumbing/server-process.ts'
import { median } from '../parts/report.ts'
import { makeBuiltInSteps } from './engine-built-in.ts'
import { HTTP_CALLS, WATERFALLS } from './engine-calls.ts'
import { FORMULAS } from './engine-kinds.ts'
import { openQuickClient, runSmall } from './engine-latency.ts'
import { ACTIONS, makeLoad, NO_OP, runToTheEnd, SETTLED_ONE_BY_ONE } from './engine-load.ts'
import { openReader, p99, startReaders, warmUp } from './engine-readers.ts'

/** A server under load. `scale` is the factor of all sizes. */
export type Loaded = {
  server: ServerProcess
  key: string
  call: Call
  store: Store
  outside: string
  scale: number
}

/** The result of one round: what the bar measures, and the number of items that the processor time is divided by. */
export type Round = { value: number; items: number }

export type Load = {
  /** `per second` is better when higher, `ms` when lower. */
  unit: 'per second' | 'ms'
  /** Settings of the server. */
  env?: Record<string, string>
  /** Prepares the load and returns a round of it. The first round warms up. */
  open(on: Loaded): Promise<() => Promise<Round>>
}

const CALLS_AT_ONCE = { LOAM_CONCURRENCY: '256' }
const READS_A_SECOND = 100
const READERS = 4

/** Creates a load that runs new rows through a chain. */
function chainLoad(rows: number, chainOf: (on: Loaded) => Promise<Step[]> | Step[]): Load['open'] {
  return async (on) => {
    const chain = await chainOf(on)
    const size = Math.ceil(rows * on.scale)
    const items = size * chain.length
    return async () => {
      const base = await makeLoad(on.call, size, chain, (n) => `Ada Lovelace ${n}`)
      return { value: items / (await runToTheEnd(on.call, base)), items }
    }
  }
}

const pureChain = (): Step[] => Array.from({ length: ACTIONS }, () => NO_OP)

const builtIn = (name: string, rows: number): Load => ({
  unit: 'per second',
  open: chainLoad(rows, async ({ call, outside }) => {
    const step = (await makeBuiltInSteps(call, outside))[name]
    if (step === undefined) throw new Error(`P20 has no action ${name}`)
    return [step]
  }),
})

/** The loads by the bar that they stand for, each small enough to be run many times. */
export const LOADS = {
  P1: { unit: 'per second', open: chainLoad(10_000, pureChain) },
  'P1 one by one': { unit: 'per second', open: chainLoad(6000, () => SETTLED_ONE_BY_ONE) },
  P2: {
    unit: 'ms',
    async open({ server, key, call, scale }) {
      const base = await makeLoad(call, 1)
      const client = openQuickClient(server.url, key)
      return async () => {
        const ms: number[] = []
        for (let n = 0; n < 100 * scale; n += 1) ms.push(await runSmall(client.call, base))
        return { value: median(ms), items: ms.length }
      }
    },
  },
  P4: {
    unit: 'ms',
    async open({ call, scale }) {
      const small = await makeLoad(call, 10)
      return async () => {
        const large = await makeLoad(call, Math.ceil(20_000 * scale))
        const over = new AbortController()
        const crowd = runAll(call, large).finally(() => over.abort())
        const ms: number[] = []
        while (!over.signal.aborted || ms.length === 0) ms.push(await runSmall(call, small))
        await crowd
        return { value: median(ms), items: ms.length }
      }
    },
  },
  P11: { unit: 'per second', open: chainLoad(5000, () => FORMULAS) },
  P12: {
    unit: 'per second',
    env: CALLS_AT_ONCE,
    open: chainLoad(8000, ({ outside }) => [HTTP_CALLS.step(outside)]),
  },
  P13: {
    unit: 'per second',
    env: CALLS_AT_ONCE,
    open: chainLoad(6000, ({ outside }) => [WATERFALLS.step(outside)]),
  },
  P15: {
    unit: 'per second',
    async open({ call, scale }) {
      const rows = Math.ceil(10_000 * scale)
      const chain = [NO_OP, NO_OP, NO_OP]
      const base = await makeLoad(call, rows, chain)
      await call('PATCH', base, { cache_enabled: true })
      await runToTheEnd(call, base)
      const items = rows * chain.length
      return async () => ({ value: items / (await runToTheEnd(call, base)), items })
    },
  },
  P18: {
    unit: 'per second',
    async open(on) {
      await setPrice(on.store.system, await loadCatalogue(), { action: NO_OP.action_id, credits: 1 })
      return chainLoad(10_000, pureChain)(on)
    },
  },
  'P19 rate': { unit: 'per second', open: (on) => openReadBeside(on, 'rate') },
  'P19 reads, p99': { unit: 'ms', open: (on) => openReadBeside(on, 'p99') },
  'List Rows': {
    unit: 'per second',
    async open(on) {
      const reader = await openReads(on)
      const reads = Math.ceil(1500 * on.scale)
      return async () => {
        const started = performance.now()
        const read = async () => {
          for (let n = 0; n < reads / READERS; n += 1) await reader.ask()
        }
        await Promise.all(Array.from({ length: READERS }, read))
        return { value: reads / ((performance.now() - started) / 1000), items: reads }
      }
    },
  },
  'P20 records_ingest': builtIn('records_ingest', 1500),
  'P20 records_lookup': builtIn('records_lookup', 1500),
  'P20 send_to_sheet': builtIn('send_to_sheet', 1500),
  'P20 lookup_rows_in_sheet': builtIn('lookup_rows_in_sheet', 1500),
  'P20 auto_dedupe_rows': builtIn('auto_dedupe_rows', 1500),
  'P20 scrape_website': builtIn('scrape_website', 600),
} satisfies Record<string, Load>

export type Bar = keyof typeof LOADS

async function openReads({ server, key, call, scale }: Loaded) {
  const shown = await makeLoad(call, 1000)
  await runToTheEnd(call, shown)
  const reader = openReader(server.url, key, shown)
  await warmUp(reader, 2000 * scale)
  return reader
}

/** Runs rows beside reads of another sheet, and returns the rate of the rows or the wait of the reads. */
async function openReadBeside(on: Loaded, what: 'rate' | 'p99'): Promise<() => Promise<Round>> {
  const reader = await openReads(on)
  const rows = Math.ceil(15_000 * on.scale)
  return async () => {
    const base = await makeLoad(on.call, rows)
    const readers = startReaders(reader, READS_A_SECOND)
    const seconds = await runToTheEnd(on.call, base)
    const ms = await readers.stop()
    const items = rows * ACTIONS
    return { value: what === 'rate' ? items / seconds : p99(ms), items }
  }
}
