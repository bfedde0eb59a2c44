import { setTimeout as sleep } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import type { Log } from '../../lib/log.ts'
import { ask } from '../connection/ask.ts'
import { ConnectionPool } from '../connection/connection-pool.ts'
import { ANY_ORGANISATION, isUnavailable, KEYED_PLANS } from '../connection/db.ts'
import { giveWay } from '../connection/give-way.ts'
import { type Queue, QUEUES } from './jobs.ts'
import { getChannel } from './wakes.ts'

const PAUSE_MS = 200
/**
 * The connection options of a queue. Commits do not wait for the disk: if PostgreSQL itself crashes, it may forget which
 * worker has a job, or that a job is finished. The job is then taken again, and its flight says whether anything is left to
 * do. Plans are made once, and by key: a plan made while the queue is empty would read the whole queue to remove finished
 * jobs.
 */
const UNHURRIED = `-c synchronous_commit=off ${ANY_ORGANISATION} ${KEYED_PLANS}`
/**
 * Matches the names of graphile-worker's statements that report the result of jobs. Sending a report twice does no more than
 * sending it once.
 */
export const REPORT = /^(complete|fail|return)_jobs?(_q)?\//

/**
 * The parts of these statements that are replaced: the seconds until a failed job is retried, and the worker that the job
 * must belong to.
 */
const BACKOFF = 'exp(least(attempts, 10))'
const IS_OURS = /locked_by = \$[13]::text(?=;|\nreturning)/
const MAX_BACKOFF_SECONDS = 300

/**
 * Returns the message of an error for a postponed job. It contains the number of the attempt that was postponed, because the
 * queue keeps nothing of an error but its message.
 */
export const formatPostponed = (attempt: number, reason: string): string =>
  `postponed (${attempt}): ${reason}`

/**
 * Replaces graphile-worker's delay before a retry. That delay grows with every attempt, including attempts that ended with a
 * worker's death, so a job could wait for hours. Now it waits five minutes at most, and one second after it was postponed.
 * The statement also ignores a report about an older attempt: a worker that fell silent was believed dead, and the job may
 * have come back to the same pool meanwhile.
 */
function withOwnBackoff(text: string): string {
  const message = text.includes("el->>'message'") ? "(el->>'message')" : '$2::text'
  const attempt = `substring(${message} from '^postponed \\((\\d{1,9})\\): ')::int`
  return text
    .replace(
      BACKOFF,
      `case when ${attempt} is null then least(${BACKOFF}, ${MAX_BACKOFF_SECONDS}) else 1 end`,
    )
    .replace(IS_OURS, `$& and coalesce(${attempt}, attempts) = attempts`)
}

export type JobConnectionOptions = { databaseUrl: string; queue: Queue; log: Log; onLost: () => void }

/**
 * The connections of a pool of graphile-worker. The pool stops working when one report of a job fails, so reports are
 * repeated until they arrive. Any other statement that is lost with its connection may have locked jobs that no worker knows
 * of; `onLost` is then called.
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
    this.#channel = getChannel(QUEUES[queue])
    // Nobody waits for groups of rows, so their connections have a low priority.
    if (queue === 'groups') this.on('connect', (client) => void giveWay(client, log))
  }

  override connect(): Promise<PoolClient>
  override connect(callback: Parameters<ConnectionPool['connect']>[0]): void
  override connect(callback?: Parameters<ConnectionPool['connect']>[0]): Promise<PoolClient> | void {
    if (callback !== undefined) return this.#connectListener(callback)
    // graphile-worker uses no more of a borrowed client than this. The connection behind it is taken when it is needed.
    return Promise.resolve(this.#lend() as PoolClient)
  }

  /** Connects the listener of graphile-worker. Only the listener takes a connection with a callback. */
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
    let client: PoolClient | undefined
    let isBroken = false
    const query = async (statement: string | { name?: string; text: string }, values?: unknown[]) => {
      if (typeof statement === 'object' && REPORT.test(statement.name ?? '')) return this.#report(statement)
      client ??= await super.connect()
      try {
        return await ask(
          client,
          typeof statement === 'object' ? statement : { text: statement, values: values ?? [] },
        )
      } catch (cause) {
        isBroken = isUnavailable(cause)
        if (isBroken) this.#onLost()
        throw cause
      }
    }
    return { query: query as PoolClient['query'], release: () => client?.release(isBroken) }
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

/**
 * Lets a function act only once. A listener whose connection is lost while it is being released is released in two ways, and
 * pg reports the second as an error.
 */
function once<Given extends unknown[]>(
  // A closed pool calls back with a cause and without a release function, whatever its type says.
  act: ((...given: Given) => void) | undefined,
): (...given: Given) => void {
  let acted = false
  return (...given) => {
    if (!acted) act?.(...given)
    acted = true
  }
}
