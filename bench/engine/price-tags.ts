import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { openStore, type Store } from '#server/database/connection/db.ts'
import { migrate } from '#server/database/connection/migrate.ts'
import { reasonOf } from '#server/lib/errors.ts'
import { createLog } from '#server/lib/log.ts'
import { createOrganisation } from '#server/organisation/organisations.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { callOver } from '#test/builders/sheets.ts'
import type { Installation } from '#test/plumbing/installation.ts'
import { type ServerProcess, startServer } from '#test/plumbing/server-process.ts'
import { readCpuSeconds } from '../parts/cpu-time.ts'
import { listParts, startWithout } from '../parts/fast-parts.ts'
import { median, note } from '../parts/report.ts'
import { count } from './engine-line.ts'
import { type Bar, type Load, type Loaded, LOADS, type Round } from './price-tag-loads.ts'

/** The bars that each part is needed for. */
const BARS: Record<string, Bar[]> = {
  peek: ['P1', 'P11', 'P15', 'P18'],
  'joined-cells': ['P1', 'P11'],
  'handed-rows': ['P2', 'P4'],
  'row-groups': ['P1', 'P12'],
  'statement-batches': ['P1', 'P12'],
  gathering: ['P1', 'P1 one by one', 'P12'],
  lookahead: ['P15'],
  'cell-batches': [
    'P20 records_ingest',
    'P20 records_lookup',
    'P20 send_to_sheet',
    'P20 lookup_rows_in_sheet',
    'P20 auto_dedupe_rows',
  ],
  'leases-ahead': ['P18'],
  'quick-calls': ['P12', 'P13'],
  'statement-names': ['P1', 'P2', 'List Rows'],
  'begin-with': ['P2'],
  'known-columns': ['List Rows'],
  'readers-ahead': ['P20 scrape_website'],
  'give-way': ['P4', 'P19 rate', 'P19 reads, p99'],
  yielding: ['P4', 'P19 rate', 'P19 reads, p99'],
  'v8-pool-size': ['P1', 'P19 reads, p99'],
  'v8-pretenuring': ['P1', 'P19 reads, p99'],
  'v8-scavenge': ['P1', 'P19 reads, p99'],
  'v8-semi-space': ['P1', 'P12', 'P19 reads, p99'],
}

const CREDITS = 100_000_000
const MIN_ROUNDS = 3
const MAX_ROUNDS = 15
/** The time beyond its share after which a comparison is given up. */
const PATIENCE_MS = 120_000
type Sizes = { parts: readonly string[]; bars: readonly string[]; minutes: number; scale: number }

/** A line of the table of price tags. */
export type Tag = Record<
  'part' | 'bar' | 'on' | 'off' | 'buys' | 'won' | 'cpu on' | 'cpu off' | 'cpu buys',
  string
>

/**
 * Measures what each part buys: a server with the part and one without it take turns at the load of each bar that the part
 * is needed for, on databases of their own in the same PostgreSQL. Each comparison has at least three rounds, and more
 * while its share of the time lasts.
 */
export async function measureTags(installation: Installation, sizes: Sizes): Promise<Tag[]> {
  const outside = await startServer({}, [process.execPath, 'bench/parts/outside-server.ts'])
  const todo = listTodo(sizes)
  const until = performance.now() + sizes.minutes * 60_000
  const tags: Tag[] = []
  let left = todo.reduce((sum, { bars }) => sum + bars.length, 0)
  try {
    for (const { part, env, bars } of todo) {
      if (performance.now() > until) {
        tags.push(...bars.map((bar) => notMeasured(part, bar, 'the time was over')))
        continue
      }
      const pair = await openPair(installation, part, { env, outside: outside.url, scale: sizes.scale })
      try {
        for (const bar of bars) {
          const shareMs = (until - performance.now()) / left
          left -= 1
          const comparing = compare(part, bar, pair, performance.now() + shareMs)
          const tag = await within(shareMs + PATIENCE_MS, comparing).catch((cause: unknown) => {
            // The other parts are measured all the same.
            note(`${part}, ${bar}: ${cause instanceof Error ? cause.stack : String(cause)}`)
            process.exitCode = 1
            return notMeasured(part, bar, reasonOf(cause))
          })
          note(
            Object.entries(tag)
              .map(([name, value]) => `${name} ${value}`)
              .join(', '),
          )
          tags.push(tag)
        }
      } finally {
        await pair.close()
      }
    }
  } finally {
    await outside.stop()
  }
  return tags
}

const notMeasured = (part: string, bar: Bar, reason: string): Tag => ({
  part,
  bar,
  on: 'not measured',
  off: '',
  buys: '',
  won: '',
  'cpu on': '',
  'cpu off': '',
  'cpu buys': reason,
})

type Todo = { part: string; env: Record<string, string>; bars: Bar[] }

/** Lists what is compared: a part with the bars that need the same settings of the server. */
function listTodo({ parts, bars }: Sizes): Todo[] {
  const chosen = parts.length === 0 ? listParts() : parts
  return chosen.flatMap((part) => {
    const wanted = (BARS[part] ?? []).filter(
      (bar) => bars.length === 0 || bars.includes(bar.split(' ')[0] ?? ''),
    )
    const byEnv = Map.groupBy(wanted, (bar) => JSON.stringify(envOf(bar)))
    return [...byEnv.values()].map((same) => ({ part, env: envOf(same[0] ?? 'P1'), bars: same }))
  })
}

const loadOf = (bar: Bar): Load => LOADS[bar]
const envOf = (bar: Bar): Record<string, string> => loadOf(bar).env ?? {}

type Side = Loaded & { pids: number[] }
type Pair = { on: Side; off: Side; close(): Promise<void> }

let databases = 0

async function openPair(
  installation: Installation,
  part: string,
  setting: { env: Record<string, string>; outside: string; scale: number },
): Promise<Pair> {
  const sides: { side: Side; close(): Promise<void> }[] = []
  const close = async () => {
    for (const one of sides) await one.close()
  }
  try {
    for (const without of [[], [part]]) sides.push(await openSide(installation, without, setting))
  } catch (cause) {
    await close()
    throw cause
  }
  const [on, off] = sides
  if (on === undefined || off === undefined) throw new Error('a comparison needs two servers')
  return { on: on.side, off: off.side, close }
}

async function openSide(
  installation: Installation,
  without: string[],
  { env, outside, scale }: { env: Record<string, string>; outside: string; scale: number },
): Promise<{ side: Side; close(): Promise<void> }> {
  const name = `tags_${(databases += 1)}`
  const database = await makeDatabase(installation.databaseUrl, name)
  const store: Store = openStore({ url: database, log: createLog('silent'), connections: 2 })
  let server: ServerProcess | undefined
  const close = async () => {
    await server?.stop()
    await store.close()
    await execute(installation.databaseUrl, `drop database ${name} with (force)`)
  }
  try {
    const admin = { name: 'Bench', adminEmail: 'admin@example.com', initialCredits: CREDITS }
    const { key } = await createOrganisation(store.system, OPERATOR, admin)
    const start = startWithout(without)
    server = await installation.startServer(
      {
        DATABASE_URL: database,
        LOAM_DATA_DIR: `${installation.folder}/${name}`,
        LOAM_PROVIDER_KEY_HUNTER: 'bench',
        LOAM_PROVIDER_URL_HUNTER: outside,
        ...start.env,
        ...env,
      },
      start,
    )
    const pids = [server.child.pid ?? 0, installation.postgresPid()]
    return { side: { server, key, call: callOver(server.url, key), store, outside, scale, pids }, close }
  } catch (cause) {
    await close()
    throw cause
  }
}

async function makeDatabase(url: string, name: string): Promise<string> {
  await execute(url, `create database ${name}`)
  const database = new URL(url)
  database.pathname = `/${name}`
  await migrate(database.href, () => {})
  return database.href
}

async function execute(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

type Measured = { value: number; cpuUs: number }

async function within<Result>(ms: number, work: Promise<Result>): Promise<Result> {
  const limit = new AbortController()
  const late = sleep(ms, undefined, { signal: limit.signal }).then(() => {
    throw new Error(`it took more than ${count(ms / 1000)} s`)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    limit.abort()
    late.catch(() => undefined)
  }
}

/** Runs both sides in turns, every other round in the opposite order, until `endAt`. */
async function compare(part: string, bar: Bar, { on, off }: Pair, endAt: number): Promise<Tag> {
  const load = loadOf(bar)
  const sides = await Promise.all([on, off].map(async (side) => ({ side, round: await load.open(side) })))
  const found: Measured[][] = sides.map(() => [])
  // The first round compiles the code that is compiled at run time.
  for (const { round } of sides) await round()
  let longest = 0
  for (let n = 0; n < MAX_ROUNDS; n += 1) {
    const started = performance.now()
    if (n >= MIN_ROUNDS && started + longest > endAt) break
    for (const place of n % 2 === 0 ? [0, 1] : [1, 0]) {
      const one = sides[place]
      if (one !== undefined) found[place]?.push(await measure(one.side, one.round))
    }
    longest = Math.max(longest, performance.now() - started)
  }
  return tagOf(part, bar, load.unit, found[0] ?? [], found[1] ?? [])
}

async function measure({ pids }: Side, round: () => Promise<Round>): Promise<Measured> {
  const before = readCpuSeconds(pids)
  const { value, items } = await round()
  return { value, cpuUs: ((readCpuSeconds(pids) - before) * 1e6) / items }
}

function tagOf(part: string, bar: Bar, unit: Load['unit'], on: Measured[], off: Measured[]): Tag {
  const buys = (one: number, other: number, isBetterHigh: boolean) =>
    isBetterHigh ? one / other : other / one
  const ratios = (of: (one: Measured) => number, isBetterHigh: boolean) =>
    on.flatMap((one, n) => {
      const other = off[n]
      return other === undefined ? [] : [buys(of(one), of(other), isBetterHigh)]
    })
  const gains = ratios(({ value }) => value, unit === 'per second')
  const middle = (some: Measured[], of: (one: Measured) => number) => median(some.map(of))
  const percent = (ratio: number) => `${ratio >= 1 ? '+' : ''}${((ratio - 1) * 100).toFixed(1)}%`
  const show = (value: number) => (unit === 'ms' ? `${value.toFixed(1)} ms` : `${count(value)}/s`)
  const us = (value: number) => `${value.toFixed(1)} us`
  return {
    part,
    bar,
    on: show(middle(on, ({ value }) => value)),
    off: show(middle(off, ({ value }) => value)),
    buys: percent(median(gains)),
    won: `${gains.filter((gain) => gain > 1).length} of ${gains.length}`,
    'cpu on': us(middle(on, ({ cpuUs }) => cpuUs)),
    'cpu off': us(middle(off, ({ cpuUs }) => cpuUs)),
    'cpu buys': percent(median(ratios(({ cpuUs }) => cpuUs, false))),
  }
}
