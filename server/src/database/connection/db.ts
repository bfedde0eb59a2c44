import { Kysely, PostgresDialect } from 'kysely'
import { LRUCache } from 'lru-cache'
import { type PoolClient, type PoolConfig, type QueryConfig, type QueryResultRow, types } from 'pg'
import { isOn } from '../../lib/fast-parts.ts'
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
import {
  createStatementNaming,
  isAnalysis,
  isKeyedRead,
  isUnhurried,
  type NamingClient,
} from './statement-names.ts'
import { runTransaction } from './transaction-end.ts'

/** A handle to the database for one organisation or, as `system`, for the program itself. */
export type Db = Kysely<Schema>

export type Store = {
  /** Sees every organisation. It is for authentication, the command line and background work. */
  system: Db
  /**
   * Returns a handle that sees one organisation. Row-level security hides the others, whatever the statement says.
   */
  org(orgId: string): Db
  /** Runs a statement of a hot path on behalf of the program itself. */
  query<Row extends QueryResultRow>(statement: QueryConfig): Promise<Row[]>
  /** The changes of sheets that any process announces. */
  changes: ChangeFeed
  /** The hand-over through which code that enqueues rows reaches a worker of the same process. */
  handOver: HandOver
  close(): Promise<void>
}

// Counts and credits stay far below 2^53, so bigint columns can be read as numbers.
types.setTypeParser(types.builtins.INT8, Number)
// A date is a day, not the instant at which the day begins in some time zone.
types.setTypeParser(types.builtins.DATE, String)

const ORG_HANDLES = 1000

export type StoreOptions = {
  url: string
  log: Log
  connections?: number
  /** The limits of organisations. Without it there are none. */
  limits?: Limits
  /** Makes plans for statements that look up a batch by key, as the engine's do. See KEYED_PLANS. */
  keyedPlans?: boolean
}

/**
 * Makes plans for any organisation instead of the named one. Statistics older than an organisation say that it has no
 * rows. Then every index that begins with the organisation looks equally good, and PostgreSQL would read all rows of
 * the organisation to find one by its key.
 */
export const ANY_ORGANISATION = '-c plan_cache_mode=force_generic_plan'

/**
 * Makes plans once, with index lookups only. A plan made while a table is empty would otherwise read the whole table,
 * and would be kept after the table has grown.
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

/**
 * The settings for reads of pages by key (`KEYED_READ`): also in the order of an index, so that a deep page does not
 * sort the whole table.
 */
const ORDERED_PLANS = `${KEYED_PLANS} -c enable_bitmapscan=off -c enable_sort=off`
/** The part of the organisations' connections that is kept for reads by key. */
const KEYED_READS_SHARE = 0.3
const UNHURRIED_SHARE = 0.15
/** The connections for reads of much data, beside all others. They are opened when the first such read begins. */
const ANALYSIS_CONNECTIONS = 4
/** The part of each pool that one organisation may use while the process works for several. */
const ORG_SHARE = 1 / 3
/**
 * The least that one organisation may use: a request may need one connection within a transaction and another beside
 * it.
 */
const LEAST_SHARE = 2

const SYSTEM = '*'
/**
 * The server's limit for a statement. A statement still open after HUNG_MS has lost its connection without knowing
 * it.
 */
const STATEMENT_MS = 60_000
const HUNG_MS = 90_000
/** The time after which the operating system checks whether a silent server is still there. */
const KEEP_ALIVE_MS = 10_000

function createPoolConfig({ url, limits }: StoreOptions, plans: string): PoolConfig {
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
  const handles = new LRUCache<string, Db>({ max: ORG_HANDLES })
  const pools = openPools(options, () => handles.size)
  const connectFor = createConnecting(pools)
  const handOver: HandOver = { taker: null }
  const openFor = createOpening(pools, connectFor)

  function handleFor(org: string): Db {
    const connect = async () =>
      connectAtFirst(async (text, isTransaction) => openFor(org, text, isTransaction))
    const handle = new Kysely<Schema>({
      dialect: new PostgresDialect({ pool: { options: pools.org.options, connect, end: async () => {} } }),
    })
    noteHandOver(handle, handOver)
    return handle
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
        const { text, values = [] } = statement
        const result = await ask<Row>(client, isOn('statement-names') ? statement : { text, values })
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

type Pools = ReturnType<typeof openPools>

/**
 * Opens the pools. They are separate so that connections of the program itself need not switch organisations again and
 * again.
 */
function openPools(options: StoreOptions, countHandles: () => number) {
  const { connections = 20, keyedPlans, log } = options
  type PoolOptions = { max: number; plans?: string; givesWay?: boolean | undefined }
  const openPool = ({ max, plans = keyedPlans ? KEYED_PLANS : '', givesWay = keyedPlans }: PoolOptions) => {
    const pool = new ConnectionPool({ ...createPoolConfig(options, plans), max }, (cause) =>
      log.warn(
        { cause: cause.message },
        'an idle database connection was lost; the next statement opens a new one',
      ),
    )
    if (givesWay === true && isOn('give-way')) pool.on('connect', (client) => void giveWay(client, log))
    if (!keyedPlans) limitShares(pool, max, countHandles)
    return pool
  }
  const countShare = (share: number) => (keyedPlans ? 0 : Math.floor(connections * share))
  const reads = countShare(KEYED_READS_SHARE)
  const unhurried = countShare(UNHURRIED_SHARE)
  return {
    system: openPool({ max: Math.ceil(connections / 2) }),
    org: openPool({ max: connections - reads - unhurried }),
    reads: reads === 0 ? undefined : openPool({ max: reads, plans: ORDERED_PLANS }),
    unhurried: unhurried === 0 ? undefined : openPool({ max: unhurried, givesWay: true }),
    analysis: keyedPlans ? undefined : openPool({ max: ANALYSIS_CONNECTIONS }),
  }
}

/** The shares of organisations in each pool that limits them. */
const poolShares = new WeakMap<ConnectionPool, Shares>()
const organisationOfClient = new WeakMap<PoolClient, string>()

/** Limits what one organisation may use of a pool while the process works for several. */
function limitShares(pool: ConnectionPool, max: number, countHandles: () => number): void {
  const shares = createShares(() =>
    countHandles() > 1 ? Math.max(LEAST_SHARE, Math.ceil(max * ORG_SHARE)) : max,
  )
  poolShares.set(pool, shares)
  pool.on('release', (_cause, client) => {
    const org = organisationOfClient.get(client)
    organisationOfClient.delete(client)
    if (org !== undefined) shares.giveBack(org)
  })
}

async function takeClient(org: string, pool: ConnectionPool): Promise<PoolClient> {
  const shares = org === SYSTEM ? undefined : poolShares.get(pool)
  const granted = shares?.take(org)
  if (granted !== undefined) await granted
  try {
    const client = await pool.connect()
    if (shares !== undefined) organisationOfClient.set(client, org)
    return client
  } catch (cause) {
    shares?.giveBack(org)
    throw cause
  }
}

type Connect = ReturnType<typeof createConnecting>

/** Returns a function that connects on behalf of an organisation, or of the program itself. */
function createConnecting(pools: Pools) {
  const currentOrganisation = new WeakMap<PoolClient, string>()
  return async (org: string, pool = pools[org === SYSTEM ? 'system' : 'org']): Promise<PoolClient> => {
    const client = await markFaults(takeClient(org, pool))
    if (currentOrganisation.get(client) === org) return client
    try {
      const text = `select set_config('loam.org', $1, false)`
      await ask(client, { name: 'speak-for', text, values: [org] })
      currentOrganisation.set(client, org)
      return client
    } catch (cause) {
      client.release(true)
      throw cause
    }
  }
}

/** Returns a function that opens a connection for a statement, or for the transaction that begins with it. */
function createOpening(pools: Pools, connectFor: Connect) {
  const nameStatements = createStatementNaming()
  const findPool = (text: string) => {
    if (isAnalysis(text)) return pools.analysis
    return isUnhurried(text) ? pools.unhurried : undefined
  }
  return async (org: string, text: string, isTransaction: boolean): Promise<NamingClient> => {
    if (pools.reads !== undefined && !isTransaction && isKeyedRead(text))
      return nameStatements(await connectFor(org, pools.reads), 'all')
    return nameStatements(await connectFor(org, findPool(text)), 'steady')
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
  // A deadlock or a serialization failure: the transaction was rolled back as a whole.
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

/**
 * Returns true if the database could not be reached, or is out of connections or disk space. Such work is worth a
 * retry.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  // A missing socket, in contrast to a missing file.
  const noSocket = code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect'
  return noSocket || LOST.has(code) || LOST_WORDS.test(error.message)
}
