import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import type { Log } from '../../lib/log.ts'
import { ask } from '../connection/ask.ts'
import { ConnectionPool } from '../connection/connection-pool.ts'
import { ANY_ORGANISATION, isUnavailable, KEYED_PLANS } from '../connection/db.ts'
import { giveWay } from '../connection/give-way.ts'
import { type Queue, QUEUES } from './jobs.ts'
import { channelOf } from './wakes.ts'

const PAUSE_MS = 200
/**
 * Who has a job, or that it is done, may be forgotten when PostgreSQL itself crashes: it is then taken up again, and the flight
 * says whether there is something left to do. So nobody waits for the disk here. Plans are made once, and by key: one that is made
 * while the queue is empty would read all of it to remove the jobs that are done.
 */
const UNHURRIED = `-c synchronous_commit=off ${ANY_ORGANISATION} ${KEYED_PLANS}`
/** Statements of graphile-worker that say what became of jobs. Said twice they do nothing more than said once. */
export const REPORT = /^(complete|fail|return)_jobs?(_q)?\//

/** In those statements: seconds until a job that failed is tried again, and whose job it must be. */
const BACKOFF = 'exp(least(attempts, 10))'
const IS_OURS = /locked_by = \$[13]::text(?=;|\nreturning)/
const MAX_BACKOFF_SECONDS = 300

/** The queue keeps nothing of an error but its message, so that says which taking of the job was postponed. */
export const postponedText = (taken: number, why: string): string => `postponed (${taken}): ${why}`

/**
 * Takings count, also those that a death ended, so that a job could rest for hours: now it is five minutes at most, and a second
 * for one that was postponed. A worker that fell silent was taken for dead, and the job may have come back to the same pool: what
 * has become of the older taking is then nothing to the job.
 */
function withOwnBackoff(text: string): string {
  const message = text.includes("el->>'message'") ? "(el->>'message')" : '$2::text'
  const taking = `substring(${message} from '^postponed \\((\\d{1,9})\\): ')::int`
  return text
    .replace(BACKOFF, `case when ${taking} is null then least(${BACKOFF}, ${MAX_BACKOFF_SECONDS}) else 1 end`)
    .replace(IS_OURS, `$& and coalesce(${taking}, attempts) = attempts`)
}

export type JobConnectionOptions = { databaseUrl: string; queue: Queue; log: Log; onLost: () => void }

/**
 * Connections for a pool of graphile-worker, which takes itself out of service when one report of a job fails. Reports are
 * therefore repeated until they arrive. Any other statement that is lost with its connection may have locked jobs that
 * nobody knows of: `onLost` hears of it.
 */
export class JobConnections extends ConnectionPool {
  readonly #onLost: () => void
  readonly #channel: string
  #closed = false

  constructor({ databaseUrl, queue, log, onLost }: JobConnectionOptions) {
    super({
      connectionString: databaseUrl,
      max: 4,
      connectionTimeoutMillis: 5000,
      application_name: 'loam jobs',
      options: UNHURRIED,
    })
    this.#onLost = onLost
    this.#channel = channelOf(QUEUES[queue])
    // Nobody waits for groups of rows.
    if (queue === 'groups') this.on('connect', (client) => void giveWay(client, log))
  }

  override connect(): Promise<PoolClient>
  override connect(callback: Parameters<ConnectionPool['connect']>[0]): void
  override connect(callback?: Parameters<ConnectionPool['connect']>[0]): Promise<PoolClient> | void {
    if (callback !== undefined) return this.#connectListener(callback)
    // Only what graphile-worker asks of a client it borrows; the connection behind it is taken when it is needed.
    return Promise.resolve(this.#lend() as PoolClient)
  }

  /** Only who listens takes a connection by a callback. */
  #connectListener(callback: Parameters<ConnectionPool['connect']>[0]): void {
    super.connect((cause, client, done) => {
      if (client === undefined) return callback(cause, client, once(done))
      client.query(`listen "${this.#channel}"`, (lost: Error | null) => {
        if (lost === null) return callback(cause, client, once(done))
        done(true)
        callback(lost, undefined, () => undefined)
      })
    })
  }

  #lend(): Pick<PoolClient, 'query' | 'release'> {
    let held: PoolClient | undefined
    let broken = false
    const query = async (statement: string | { name?: string; text: string }, values?: unknown[]) => {
      if (typeof statement === 'object' && REPORT.test(statement.name ?? '')) return this.#report(statement)
      held ??= await super.connect()
      try {
        return await ask(
          held,
          typeof statement === 'object' ? statement : { text: statement, values: values ?? [] },
        )
      } catch (cause) {
        broken = isUnavailable(cause)
        if (broken) this.#onLost()
        throw cause
      }
    }
    return { query: query as PoolClient['query'], release: () => held?.release(broken) }
  }

  async #report(given: { name?: string; text: string }) {
    const statement = given.name?.startsWith('fail_') ? { ...given, text: withOwnBackoff(given.text) } : given
    for (;;) {
      let client: PoolClient | undefined
      try {
        client = await super.connect()
        const result = await ask(client, statement)
        client.release()
        return result
      } catch (cause) {
        client?.release(true)
        if (this.#closed || !isUnavailable(cause)) throw cause
        await sleep(PAUSE_MS)
      }
    }
  }

  override async close(): Promise<void> {
    this.#closed = true
    await super.close()
  }
}

/** A listener whose connection is lost while it is given up is released by both ways, and pg takes the second for a fault. */
function once<Given extends unknown[]>(
  // A pool that is closed answers with a cause and nothing to release, whatever its type says.
  act: ((...given: Given) => void) | undefined,
): (...given: Given) => void {
  let acted = false
  return (...given) => {
    if (!acted) act?.(...given)
    acted = true
  }
}
