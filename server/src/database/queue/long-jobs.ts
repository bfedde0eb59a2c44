import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'
import { MAX_ATTEMPTS, QUEUES } from './jobs.ts'

/**
 * The number of jobs of each kind that an organisation may run at once, in all processes together. A lane is a named queue of
 * graphile-worker; its jobs run one after the other. Feeds are pulls of sources, deliveries and segments.
 */
const LANES = { imports: 2, exports: 2, feeds: 2 } as const
export type LaneKind = keyof typeof LANES

/** The number of long jobs that a worker process runs at once: more than one organisation can use. */
export const LONG_JOBS_AT_ONCE = 2 * Object.values(LANES).reduce((sum, lanes) => sum + lanes, 0)

const MAX_PRIORITY = 32_000

const JOBS = sql.table(`${QUEUES.long}._private_jobs`)
const LANE_ROWS = sql.table(`${QUEUES.long}._private_job_queues`)

/**
 * Enqueues a long job of an organisation in the caller's transaction. At most one job exists for each key: a second call
 * changes the first. The job goes to the shorter lane. Its priority is a virtual time: the priority of the next jobs, plus
 * one step for each waiting job of the same organisation. So among organisations that share places, the one that was served
 * least is next. Jobs without a lane, which have workers of their own, do not count.
 */
export async function addLongJob(
  db: Db,
  { lanes, name }: { lanes: LaneKind; name: string },
  payload: { org_id: string } & Record<string, unknown>,
  options: { key?: string; runAt?: Date } = {},
): Promise<void> {
  const names = Array.from({ length: LANES[lanes] }, (_, n) => `${payload.org_id} ${lanes} ${n}`)
  const runAt = options.runAt ?? null
  // A job for later also counts the other jobs for later. Otherwise all of them would get the same lane and be due at the
  // same time.
  await sql`with lanes as (
      select t.name, t.n, (select count(*) from ${JOBS} j
        where j.job_queue_id = q.id and (j.run_at <= now() or ${runAt}::timestamptz > now())) as waiting
      from unnest(${names}::text[]) with ordinality as t (name, n)
      left join ${LANE_ROWS} q on q.queue_name = t.name
    ), next as (
      select coalesce((select priority from ${JOBS} where is_available and run_at <= now()
        and job_queue_id is not null order by priority limit 1), 1) as priority
    )
    select ${sql.table(`${QUEUES.long}.add_job`)}(${name}, payload => ${JSON.stringify(payload)}::json,
      queue_name => (select lanes.name from lanes order by waiting, n limit 1), run_at => ${runAt}::timestamptz,
      max_attempts => ${MAX_ATTEMPTS}, job_key => ${options.key ?? null}::text,
      priority => least(${MAX_PRIORITY}, next.priority + (select sum(waiting) from lanes))::int)
    from next`.execute(db)
}

/** Deletes lanes without jobs. Each search for a job reads all lanes, and an organisation may never come back. */
export async function forgetIdleLanes(db: Db): Promise<void> {
  await sql`delete from ${LANE_ROWS} q where q.locked_at is null
    and not exists (select from ${JOBS} j where j.job_queue_id = q.id)`.execute(db)
}
