import { reasonOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { type Poll, startPoll } from '../../lib/timing/poll.ts'
import type { Store } from '../connection/db.ts'
import { listUnknownPools, unlockJobs } from './job-locks.ts'
import { createLifeLock, HAS_FREE_LIFE_LOCK } from './life-lock.ts'
import type { WorkerIds } from './pool.ts'

const BEAT_MS = 1000
/** The time within which a living process takes its lock again after it was cut off from the database. */
const LOCK_GRACE_MS = 2500
/** The same after a restart of PostgreSQL, when all living processes come back at once. */
const START_GRACE_MS = 5000

const BEAT = `
  insert into workers (worker_id, lock_key) select unnest($1::text[]), $2::int
  on conflict (worker_id) do update set beat_at = now(), lock_key = excluded.lock_key`

/**
 * Removes workers that are silent ($3 milliseconds, if $2), or whose lock is free; after a restart of PostgreSQL the
 * locks are judged a while later, and only by a worker that has missed no beat ($4).
 */
const FORGET_SILENT = `
  delete from workers where worker_id <> all($1::text[]) and (
    $2 and beat_at < now() - $3 * interval '1 millisecond'
    or beat_at < now() - ${LOCK_GRACE_MS} * interval '1 millisecond' and ${HAS_FREE_LIFE_LOCK}
      and (beat_at > pg_postmaster_start_time()
        or $4 and pg_postmaster_start_time() < now() - ${START_GRACE_MS} * interval '1 millisecond'))
  returning worker_id`

export type HeartbeatOptions = {
  databaseUrl: string
  store: Store
  log: Log
  /** The silence after which a worker process counts as dead. */
  silenceMs?: number
  /**
   * Set if this is the only process on this database. Then every process that was heard of before its start is dead.
   */
  sole?: boolean
  /** Further ids that live as long as the process does: the holders of leases of credits. */
  holderIds?: () => string[]
}

/** Creates the lists of the ids of pools at work, and of pools that ended and may have left jobs locked. */
export function createWorkerIds(): WorkerIds & { working: Set<string>; retired: Set<string> } {
  const working = new Set<string>()
  const retired = new Set<string>()
  return {
    working,
    retired,
    add: (id) => void working.add(id),
    retire(id) {
      working.delete(id)
      retired.add(id)
    },
  }
}

/**
 * Reports every second that the pools of this process live, and gives the jobs of dead processes to others: at once if
 * the lock of the process is free, and otherwise after a long silence.
 */
export function startHeartbeat(
  { databaseUrl, store, log, silenceMs = 8000, sole = false, holderIds = () => [] }: HeartbeatOptions,
  { working, retired }: ReturnType<typeof createWorkerIds>,
): Poll {
  const lock = createLifeLock(databaseUrl)
  let first = true
  let heardAt: number | undefined
  /** The time since which no beat was missed. Nothing is known of the time before the start. */
  let steadySince: number | undefined
  let startedAt: number | undefined
  let searchedAt = Number.NEGATIVE_INFINITY

  const living = () => [...working, ...holderIds()]
  /** The ids that were reported and are still listed. Those that have ended since are taken off the list. */
  const announced = new Set<string>()
  /**
   * Returns the ids of this process, also those that were stopped while a beat was under way, or before their first
   * beat.
   */
  const ours = () => new Set([...living(), ...retired, ...announced])

  async function beat(): Promise<void> {
    const life = await lock.hold()
    const ids = living()
    for (const id of ids) announced.add(id)
    await life.query(BEAT, [ids, life.key])
    // A process that was itself cut off from the database cannot tell yet which others are silent.
    const now = Date.now()
    if (heardAt !== undefined && now - heardAt > LOCK_GRACE_MS) steadySince = now
    heardAt = now
    startedAt ??= now
    const knownSilence = sole && first ? 0 : silenceMs
    const judges = steadySince === undefined || now - steadySince >= silenceMs
    // By then every other living process has its lock again.
    const isSteady = now - (steadySince ?? startedAt) > LOCK_GRACE_MS
    first = false
    const silent = await life.query<{ worker_id: string }>(FORGET_SILENT, [
      [...ours()],
      judges,
      knownSilence,
      isSteady,
    ])
    // Holders that were never heard of are looked for among all jobs, but no more often than a process can fall silent.
    const searches = judges && now - searchedAt >= silenceMs
    if (searches) searchedAt = now
    const unknown = searches ? await listUnknownPools(store, knownSilence) : []
    const known = ours()
    const others = [...silent.map((row) => row.worker_id), ...unknown.filter((id) => !known.has(id))]
    const alive = new Set(living())
    const ended = [...announced].filter((id) => !alive.has(id) && !retired.has(id))
    await giveBack([...retired, ...ended, ...others])
    if (others.length > 0)
      log.warn({ workers: others.length }, 'workers are gone; their rows were given to others')
  }

  async function giveBack(ids: string[]): Promise<void> {
    if (ids.length === 0) return
    await unlockJobs(store, ids)
    await store.query({ text: 'delete from workers where worker_id = any($1::text[])', values: [ids] })
    for (const id of ids) {
      retired.delete(id)
      announced.delete(id)
    }
  }

  const beating = startPoll({ name: 'heartbeat', ms: BEAT_MS, log }, beat)
  return {
    async stop() {
      await beating.stop()
      await giveBack([...ours()]).catch((cause: unknown) =>
        log.warn({ cause: reasonOf(cause) }, 'jobs stay locked until other workers miss this one'),
      )
      await lock.close()
    },
  }
}
