import pg from 'pg'
import { migrate } from '#server/database/connection/migrate.ts'
import { runAll } from '#test/builders/sheets.ts'
import type { Installation } from '#test/plumbing/installation.ts'
import { shareOf, takeTurns } from '../parts/in-turns.ts'
import { median } from '../parts/report.ts'
import { openBareUpserts } from '../peers/bare-upserts.ts'
import { openBullmq } from '../peers/bullmq.ts'
import { openGraphilePerCell } from '../peers/graphile-per-cell.ts'
import { openAtItsBest, type Peer } from '../peers/peer.ts'
import { startRedis } from '../peers/redis.ts'
import { held, type Line, line, rate } from './engine-line.ts'
import { ACTIONS, makeLoad, SETTLED_ONE_BY_ONE, startLoam } from './engine-load.ts'

/**
 * The rate that P1 quotes for n8n's bulk path: items x Set nodes per second, in memory. It is not run here.
 */
const N8N_QUOTED = 27_000
/** The number of rounds of the peers. They are slow, and their comparison is far from its bar. */
const PEER_ROUNDS = 3
const NO_REDIS = 'SKIPPED: no redis-server on PATH (Debian: apt-get install redis-server)'

/** Measures P1: from the request to run all rows to the last finished cell, in turns with the peers. */
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
  const oneByOne: Peer = {
    name: 'Loam, each cell durable before the next action starts (pure actions and others in turns)',
    run: async ({ rows }) => runAll(loam.call, await makeLoad(loam.call, rows, SETTLED_ONE_BY_ONE)),
    close: async () => {},
  }
  const peers = [graphile, perRow, perCell].filter((one) => one !== null)
  const rateOf = async (one: Peer) => (rows * ACTIONS) / (await one.run({ rows, actions: ACTIONS }))
  try {
    // This compiles all code that is compiled at run time. The peers have been tried out before.
    for (const one of [ours, bare, oneByOne]) await rateOf(one)
    const judged = await takeTurns('P1', rounds, {
      loam: () => rateOf(ours),
      bare: () => rateOf(bare),
      'one by one': () => rateOf(oneByOne),
    })
    // Loam and the bare peer run here too, so that the other peers are also compared with neighbours in time.
    const contest = await takeTurns(
      'P1, peers',
      Math.min(rounds, PEER_ROUNDS),
      Object.fromEntries([ours, bare, ...peers].map((one) => [one.name, () => rateOf(one)])),
    )
    const ratesOf = (one: Peer) => contest[one.name] ?? []
    const measured = (one: Peer, rates: number[], share: number) =>
      line('P1', one.name, rate(median(rates)), { 'of bare': share.toFixed(2) })
    const peer = (one: Peer) => measured(one, ratesOf(one), shareOf(ratesOf(one), ratesOf(bare)))
    const share = shareOf(judged.loam, judged.bare)
    const slowShare = shareOf(judged['one by one'], judged.bare)
    const ofPerRow = perRow === null ? Number.NaN : shareOf(ratesOf(ours), ratesOf(perRow))
    return [
      { ...measured(ours, judged.loam, share), ...held(share, 0.5, ' of bare') },
      { ...measured(oneByOne, judged['one by one'], slowShare), ...held(slowShare, 0.4, ' of bare') },
      measured(bare, judged.bare, 1),
      ...(perRow === null
        ? [line('P1', 'BullMQ, job per row', NO_REDIS, { bar: '>= 1.5 x', met: 'not measured' })]
        : [
            peer(perRow),
            line('P1', 'Loam / BullMQ, job per row', `${ofPerRow.toFixed(2)} x`, held(ofPerRow, 1.5, ' x')),
          ]),
      perCell === null ? line('P1', 'BullMQ, job per cell', NO_REDIS) : peer(perCell),
      peer(graphile),
      line('P1', 'n8n, bulk path in memory', `${N8N_QUOTED.toLocaleString('en')} (quoted, not run)`, {
        ...held(median(judged.loam), N8N_QUOTED, ' cells/s'),
      }),
    ]
  } finally {
    for (const one of [ours, bare, ...peers]) await one.close()
    await redis?.stop()
  }
}

/** Creates a database for the peers, with their own tables and jobs, on the same server. */
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
