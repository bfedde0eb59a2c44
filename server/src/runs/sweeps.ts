import { sql } from 'kysely'
import { z } from 'zod'
import { announcing } from '../database/connection/changes.ts'
import type { Db, Store } from '../database/connection/db.ts'
import { forgetIdleLanes } from '../database/queue/long-jobs.ts'
import { defineJob, type Job } from '../lib/job.ts'
import { endStopped } from './store/former-cells.ts'

/**
 * Defines the job that marks runs as finished. It runs every second, so a caller that waits for a run sees its end
 * within a second.
 */
export function finishedRunsJob(store: Store): Job {
  return defineJob({
    name: 'finish_runs',
    everySecond: true,
    payload: z.undefined(),
    async run() {
      await endParked(store.system)
      await finishRuns(store.system)
    },
  })
}

/** The time for which stopped runs are looked at. Longer than a statement may take. */
const RECENT = sql.raw(`interval '5 minutes'`)

/**
 * Ends the parked flights of stopped runs. A cell that parks while its run is being stopped does not see the stop, and
 * the stop does not see the cell: the row would stay in flight for as long as the cell waits, up to a day. Locks that
 * let each see the other would delay results of other runs while a large run is being stopped.
 */
export async function endParked(db: Db): Promise<void> {
  await sql`with late as materialized (
      select f.org_id, f.row_id, f.run_id, r.sheet_id from runs r join flights f on f.org_id = r.org_id and f.run_id = r.run_id
      where r.state = 'stopped' and r.finished_at > now() - ${RECENT} and f.status = 'queued'
      order by f.row_id for update of f skip locked
    ), ended as (
      delete from flights f using late where f.org_id = late.org_id and f.row_id = late.row_id
      returning late.org_id, late.sheet_id, late.row_id, late.run_id
    ), ${sql.raw(endStopped('ended'))}
    select ${announcing(sql`sheet_id`)} from (select distinct sheet_id from ended) sheets`.execute(db)
}

/** Marks runs without rows in flight as finished. Cheap: it looks only at runs under way. */
async function finishRuns(db: Db): Promise<void> {
  await sql`update runs set state = 'finished', finished_at = now()
    where (org_id, run_id) in (select r.org_id, r.run_id from runs r where r.state = 'running' and r.rows_queued > 0 and r.unlaunched is null
      and not exists (select from flights f where f.org_id = r.org_id and f.run_id = r.run_id)
      for no key update of r skip locked)
    returning ${announcing(sql`sheet_id`)}`.execute(db)
}

/**
 * Defines the job that refreshes the statistics of `flights`. Flights come and go by the thousand. If PostgreSQL last
 * counted them between two runs, it assumes that there are none and plans to scan the whole table for each lookup. So
 * the table is analysed when it holds many flights, in the first second of a large run.
 */
export function flightStatisticsJob(store: Store): Job {
  return defineJob({
    name: 'count_flights',
    everySecond: true,
    payload: z.undefined(),
    async run() {
      const [found] = await store.query<{ stale: boolean }>({
        name: 'engine-estimate',
        text: `select coalesce(sum(rows_queued), 0) > 500 + 10 * (select greatest(reltuples, 0) from pg_class
            where oid = 'flights'::regclass) as stale
          from runs where state = 'running'`,
      })
      if (found?.stale === true) await store.query({ text: 'analyze flights' })
    },
  })
}

/**
 * Defines the job that forgets the lanes of organisations without long jobs. Lanes are made again when they are needed.
 */
export function laneSweep(store: Store): Job {
  return defineJob({
    name: 'sweep_lanes',
    cron: '23 * * * *',
    payload: z.unknown(),
    run: () => forgetIdleLanes(store.system),
  })
}
