import { Kysely, PostgresDialect } from 'kysely'
import { LRUCache } from 'lru-cache'
import { type PoolClient, type PoolConfig, type QueryConfig, type QueryResultRow, types } from 'pg'
import type { Log } from '../../lib/log.ts'
import { type HandOver, noteHandOver } from '../queue/hand-over.ts'
import { ask } from './ask.ts'
import { type ChangeFeed, createChangeFeed } from './changes.ts'
import { ConnectionPool } from './connection-pool.ts'
import { markFaults } from './faults.ts'
import { connectAtFirst } from './first-statement.ts'
import { giveWay } from './give-way.ts'
import { watchForHung } from './hung-statements.ts'
import { type Limits, limitOptions } from './limits.ts'
import type { Schema } from './schema.ts'
import { createShares, type Shares } from './shares.ts'
import { createStatementNaming, isKeyedRead, isUnhurried, type NamingClient } from './statement-names.ts'
import { runTransaction } from './transaction-end.ts'

/** A handle to the database that speaks for one organisation, or (as `system`) for the program itself. */
export type Db = Kysely<Schema>

export type Store = {
  /** Sees every organisation. For authentication, the command line and background work. */
  system: Db
  /** Sees one organisation: row-level security hides the others whatever the statement says. */
  org(orgId: string): Db
  /** Raw access for statements in hot paths; speaks for the program itself. */
  query<Row extends QueryResultRow>(statement: QueryConfig): Promise<Row[]>
  /** Changes of sheets that any process announces. */
  changes: ChangeFeed
  /** Where those who queue rows through this store reach a worker of the same process. */
  handOver: HandOver
  close(): Promise<void>
}

// Counts and credits stay far below 2^53, so bigint columns may arrive as numbers.
types.setTypeParser(types.builtins.INT8, Number)
// A date is a day, not the instant at which it starts somewhere.
types.setTypeParser(types.builtins.DATE, String)

const ORG_HANDLES = 1000

export type StoreOptions = {
  url: string
  log: Log
  connections?: number
  /** What organisations may have; without it there are no limits. */
  limits?: Limits
  /** For the engine's statements, which look up by key what a batch names. See KEYED_PLANS. */
  keyedPlans?: boolean
}

/**
 * Plans for any organisation, not for the one that is named. Statistics that are older than an organisation say that it has nothing:
 * every index that begins with it seems as good as another, and all that it has would be read for one record of it, by its key.
 */
export const ANY_ORGANISATION = '-c plan_cache_mode=force_generic_plan'

/**
 * Plans made once, by index lookups only. A plan that is made while a table is still empty would otherwise read it whole,
 * and be kept when it is large.
 */
export const KEYED_PLANS = [
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'enable_material=off',
  'jit=off',
  'max_parallel_workers_per_gather=0',
]
  .map((setting) => `-c ${setting}`)
  .join(' ')

/** For reads of pages by key (`KEYED_READ`): beside these, in the order of an index, so that a deep page is not sorted whole. */
const ORDERED_PLANS = `${KEYED_PLANS} -c enable_bitmapscan=off -c enable_sort=off`
/** Of the connections for organisations. */
const KEYED_READS_SHARE = 0.3
const UNHURRIED_SHARE = 0.15
/** Of each pool, for one organisation while the process works for several. */
const ORG_SHARE = 1 / 3
/** A request may use one connection within a transaction and another beside it. */
const LEAST_SHARE = 2

const SYSTEM = '*'
/** The server ends a statement after a minute. One that has not ended then has lost its connection without knowing it. */
const STATEMENT_MS = 60_000
const HUNG_MS = 90_000
/** The operating system asks whether a silent server is still there. */
const KEEP_ALIVE_MS = 10_000

function settingsOf({ url, limits }: StoreOptions, plans: string): PoolConfig {
  const given = [ANY_ORGANISATION, plans, limits === undefined ? '' : limitOptions(limits)]
  return {
    connectionString: url,
    connectionTimeoutMillis: 5000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: 'loam',
    statement_timeout: STATEMENT_MS,
    idle_in_transaction_session_timeout: 60_000,
    options: given.join(' ').trim(),
  }
}

export function openStore(options: StoreOptions): Store {
  const connections = options.connections ?? 20
  const ownPlans = options.keyedPlans ? KEYED_PLANS : ''
  const spokenFor = new WeakMap<PoolClient, string>()
  const handles = new LRUCache<string, Db>({ max: ORG_HANDLES })
  const sharesOf = new WeakMap<ConnectionPool, Shares>()
  const takenBy = new WeakMap<PoolClient, string>()
  const shareOut = (pool: ConnectionPool, max: number) => {
    const shares = createShares(() =>
      handles.size > 1 ? Math.max(LEAST_SHARE, Math.ceil(max * ORG_SHARE)) : max,
    )
    sharesOf.set(pool, shares)
    pool.on('release', (_cause, client) => {
      const org = takenBy.get(client)
      takenBy.delete(client)
      if (org !== undefined) shares.giveBack(org)
    })
  }
  type PoolOptions = {
    max: number
    plans?: string
    givesWay?: boolean | undefined
  }
  const openPool = ({ max, plans = ownPlans, givesWay = options.keyedPlans }: PoolOptions) => {
    const config: PoolConfig = {
      ...settingsOf(options, plans),
      max,
    }
    const pool = new ConnectionPool(config, (cause) =>
      options.log.warn({ cause: cause.message }, 'an idle database connection was lost'),
    )
    if (givesWay === true) pool.on('connect', (client) => void giveWay(client, options.log))
    if (!options.keyedPlans) shareOut(pool, max)
    return pool
  }
  // Apart, so that connections of the program itself need not be told time and again whom they speak for.
  const shareOf = (share: number) => (options.keyedPlans ? 0 : Math.floor(connections * share))
  const reads = shareOf(KEYED_READS_SHARE)
  const unhurried = shareOf(UNHURRIED_SHARE)
  const pools = {
    system: openPool({ max: Math.ceil(connections / 2) }),
    org: openPool({ max: connections - reads - unhurried }),
    reads: reads === 0 ? undefined : openPool({ max: reads, plans: ORDERED_PLANS }),
    unhurried: unhurried === 0 ? undefined : openPool({ max: unhurried, givesWay: true }),
  }

  async function connectFor(
    org: string,
    pool = pools[org === SYSTEM ? 'system' : 'org'],
  ): Promise<PoolClient> {
    const client = await markFaults(takeClient(org, pool))
    if (spokenFor.get(client) === org) return client
    try {
      const text = `select set_config('loam.org', $1, false)`
      await ask(client, { name: 'speak-for', text, values: [org] })
      spokenFor.set(client, org)
      return client
    } catch (cause) {
      client.release(true)
      throw cause
    }
  }

  async function takeClient(org: string, pool: ConnectionPool): Promise<PoolClient> {
    const shares = org === SYSTEM ? undefined : sharesOf.get(pool)
    const granted = shares?.take(org)
    if (granted !== undefined) await granted
    try {
      const client = await pool.connect()
      if (shares !== undefined) takenBy.set(client, org)
      return client
    } catch (cause) {
      shares?.giveBack(org)
      throw cause
    }
  }

  const handOver: HandOver = { taker: null }
  const nameStatements = createStatementNaming()
  function handleFor(org: string): Db {
    const connect = async () =>
      connectAtFirst(async (text, isTransaction) => openFor(org, text, isTransaction))
    const handle = new Kysely<Schema>({
      dialect: new PostgresDialect({ pool: { options: pools.org.options, connect, end: async () => {} } }),
    })
    noteHandOver(handle, handOver)
    return handle
  }

  /** A connection for whatever begins with this statement. */
  async function openFor(org: string, text: string, isTransaction: boolean): Promise<NamingClient> {
    if (pools.reads !== undefined && !isTransaction && isKeyedRead(text))
      return nameStatements(await connectFor(org, pools.reads), 'all')
    const pool = isUnhurried(text) ? pools.unhurried : undefined
    return nameStatements(await connectFor(org, pool), 'steady')
  }

  const system = handleFor(SYSTEM)
  const hung = watchForHung(HUNG_MS)
  const changes = createChangeFeed(options.url, options.log)
  let closed: Promise<void> | undefined
  const closeAll = async () => {
    await changes.close()
    const opened = Object.values(pools).filter((pool) => pool !== undefined)
    await Promise.all(opened.map((pool) => pool.close()))
    hung.close()
  }

  return {
    system,
    changes,
    handOver,
    org(orgId) {
      const known = handles.get(orgId)
      if (known !== undefined) return known
      const made = handleFor(orgId)
      handles.set(orgId, made)
      return made
    },
    async query<Row extends QueryResultRow>(statement: QueryConfig) {
      const client = await connectFor(SYSTEM)
      hung.begin(client)
      try {
        const result = await ask<Row>(client, statement)
        hung.end(client)
        client.release()
        return result.rows
      } catch (cause) {
        hung.end(client)
        client.release(isUnavailable(cause))
        throw cause
      }
    },
    close: () => (closed ??= closeAll()),
  }
}

/** Runs `work` in the caller's transaction, or in one of its own. */
export async function inTransaction<Result>(db: Db, work: (trx: Db) => Promise<Result>): Promise<Result> {
  return db.isTransaction ? work(db) : runTransaction(db, work)
}

const LOST = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
  '08000',
  '08003',
  '08006',
  // A deadlock, or a transaction that must be tried again: it was rolled back whole.
  '40P01',
  '40001',
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '53100',
  '25P03',
])
const LOST_WORDS =
  /connection terminated|timeout exceeded when trying to connect|client has encountered a connection error|not queryable/i

/** True when the database could not be reached, or is out of connections or disk: worth trying again. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  // A socket that is not there, in contrast to a file that is not there.
  const noSocket = code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect'
  return noSocket || LOST.has(code) || LOST_WORDS.test(error.message)
}
