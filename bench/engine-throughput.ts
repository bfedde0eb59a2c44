import pg from 'pg'
import { migrate } from '#server/store/connection/migrate.ts'
import type { Installation } from '#test/installation.ts'
import { runAll } from '#test/sheets.ts'
import { held, type Line, line, rate } from './engine-line.ts'
import { ACTIONS, makeLoad, SETTLED_ONE_BY_ONE, startLoam } from './engine-load.ts'
import { openBareUpserts } from './peers/bare-upserts.ts'
import { openBullmq } from './peers/bullmq.ts'
import { openGraphilePerCell } from './peers/graphile-per-cell.ts'
import { openAtItsBest, type Peer } from './peers/peer.ts'
import { startRedis } from './peers/redis.ts'
import { median, note } from './report.ts'

/** The figure that P1 names for n8n's bulk path: items x Set nodes a second, in memory. It is quoted, not run here. */
const N8N_QUOTED = 27_000
const ONE_BY_ONE = 'Loam, each cell durable before the next action starts (pure actions and others in turns)'
const NO_REDIS = 'SKIPPED: no redis-server on PATH (Debian: apt-get install redis-server)'

/** P1: from the request to run all rows to the last settled cell, in turns with the peers. */
export async function measureThroughput(
  installation: Installation,
  { rows, rounds }: { rows: number; rounds: number },
): Promise<Line[]> {
  const loam = await startLoam(installation)
  const redis = await startRedis()
  const database = await makePeerDatabase(installation.databaseUrl)
  const bare = await openBareUpserts(database)
  const short = { rows: Math.ceil(rows / 5), actions: ACTIONS }
  const bullmq = async (per: 'row' | 'cell') =>
    redis === null ? null : openAtItsBest((n) => openBullmq(redis.socket, per, n), short)
  const perRow = await bullmq('row')
  const perCell = await bullmq('cell')
  const graphile = await openAtItsBest((n) => openGraphilePerCell(database, n), short)
  const ours: Peer = {
    name: 'Loam, end to end over HTTP, every cell durable',
    run: async ({ rows }) => runAll(loam.call, await makeLoad(loam.call, rows)),
    close: async () => void (await loam.stop()),
  }
  const contestants = [ours, bare, graphile, perRow, perCell].filter((one) => one !== null)
  try {
    const rates = new Map(contestants.map((one) => [one, [] as number[]]))
    // Whatever compiles as it goes is compiled: the others were tried out before.
    for (const one of [ours, bare]) await one.run({ rows, actions: ACTIONS })
    const slow: number[] = []
    const runOneByOne = async () => runAll(loam.call, await makeLoad(loam.call, rows, SETTLED_ONE_BY_ONE))
    await runOneByOne()
    for (let round = 1; round <= rounds; round += 1) {
      for (const one of contestants) {
        const seconds = await one.run({ rows, actions: ACTIONS })
        rates.get(one)?.push((rows * ACTIONS) / seconds)
        note(`P1, round ${round}: ${one.name}: ${seconds.toFixed(2)} s`)
      }
      const seconds = await runOneByOne()
      slow.push((rows * ACTIONS) / seconds)
      note(`P1, round ${round}: each cell durable before the next: ${seconds.toFixed(2)} s`)
    }
    const slowly = median(slow)
    const rateOf = (one: Peer) => median(rates.get(one) ?? [])
    const share = (one: Peer) => rateOf(one) / rateOf(bare)
    const peer = (one: Peer) => line('P1', one.name, rate(rateOf(one)), { 'of bare': share(one).toFixed(2) })
    const speed = rateOf(ours)
    return [
      { ...peer(ours), ...held(share(ours), 0.5, ' of bare') },
      line('P1', ONE_BY_ONE, rate(slowly), {
        'of bare': (slowly / rateOf(bare)).toFixed(2),
        ...held(slowly / rateOf(bare), 0.4, ' of bare'),
      }),
      peer(bare),
      ...(perRow === null
        ? [line('P1', 'BullMQ, job per row', NO_REDIS, { bar: '>= 1.5 x', met: 'not measured' })]
        : [
            peer(perRow),
            line('P1', 'Loam / BullMQ, job per row', `${(speed / rateOf(perRow)).toFixed(2)} x`, {
              ...held(speed / rateOf(perRow), 1.5, ' x'),
            }),
          ]),
      perCell === null ? line('P1', 'BullMQ, job per cell', NO_REDIS) : peer(perCell),
      peer(graphile),
      line('P1', 'n8n, bulk path in memory', `${N8N_QUOTED.toLocaleString('en')} (quoted, not run)`, {
        ...held(speed, N8N_QUOTED, ' cells/s'),
      }),
    ]
  } finally {
    for (const one of contestants) await one.close()
    await redis?.stop()
  }
}

/** Peers have tables and jobs of their own, on the same server. */
async function makePeerDatabase(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('create database peers')
  await client.end()
  const database = new URL(url)
  database.pathname = '/peers'
  await migrate(database.href, () => {})
  return database.href
}
