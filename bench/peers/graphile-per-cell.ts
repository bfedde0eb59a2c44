import { Logger, run } from 'graphile-worker'
import pg from 'pg'
import { newId } from '#server/lib/ids.ts'
import { createBatcher } from '#server/lib/timing/batcher.ts'
import { type Load, type Peer, RESULT, timed } from './peer.ts'

const JOBS_PER_STATEMENT = 10_000

type Cell = { r: string; a: number }

/**
 * Opens graphile-worker with a job per cell. Results are stored in batches, and the same statement adds the
 * jobs of the next cells.
 */
export async function openGraphilePerCell(databaseUrl: string, concurrency: number): Promise<Peer> {
  const options = '-c plan_cache_mode=force_generic_plan'
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 8, options })
  await pool.query('create table per_cell (like cells including all)')
  const [org, sheet, runId] = [newId(), newId(), newId()]
  let load: Load = { rows: 0, actions: 0 }
  let left = 0
  let done = Promise.withResolvers<void>()

  const store = createBatcher<Cell, true>({
    maxItems: 500,
    maxInFlight: 2,
    run: async (cells) => {
      await pool.query({
        name: 'per-cell',
        text: `with item as (
            select * from jsonb_to_recordset($1::jsonb) as i (r uuid, a int)
          ), written as (
            insert into per_cell (org_id, sheet_id, row_id, action, status, outputs, run_id, revision, attempts,
              credits_millis, cached, started_at)
            select $2, $3, r, 'split_full_name_' || a, 'complete', $5::jsonb, $4, 1, 1, 0, false, now() from item
            on conflict (org_id, row_id, action) do update set outputs = excluded.outputs
          )
          select count(*) from graphile_worker.add_jobs(array(
            select ('cell', json_build_object('r', r, 'a', a + 1), null, null, 25, null, 0, null)::graphile_worker.job_spec
            from item where a < $6::int))`,
        values: [JSON.stringify(cells), org, sheet, runId, JSON.stringify(RESULT), load.actions],
      })
      return cells.map(() => true)
    },
  })

  const jobs = new pg.Pool({ connectionString: databaseUrl, max: 4 })
  // Connections of a closed pool may still be closing when PostgreSQL ends. Statements report their own
  // errors.
  for (const one of [pool, jobs]) {
    one.on('error', () => undefined).on('connect', (client) => client.on('error', () => undefined))
  }
  const runner = await run({
    pgPool: jobs,
    preset: {
      worker: {
        pollInterval: 1000,
        completeJobBatchDelay: 5,
        failJobBatchDelay: 5,
        concurrentJobs: concurrency,
        localQueue: { size: concurrency },
      },
    },
    taskList: {
      async cell(payload) {
        await store(payload as Cell)
        left -= 1
        if (left === 0) done.resolve()
      },
    },
    parsedCronItems: [],
    logger: new Logger(() => () => undefined),
    noHandleSignals: true,
  })

  async function addFirstJobs(rows: number): Promise<void> {
    for (let from = 0; from < rows; from += JOBS_PER_STATEMENT) {
      const ids = Array.from({ length: Math.min(JOBS_PER_STATEMENT, rows - from) }, newId)
      await pool.query(
        `select count(*) from graphile_worker.add_jobs(array(
          select ('cell', json_build_object('r', r, 'a', 1), null, null, 25, null, 0, null)::graphile_worker.job_spec
          from unnest($1::uuid[]) r))`,
        [ids],
      )
    }
  }

  return {
    name: 'graphile-worker, job per cell, batched writes',
    async run(wanted) {
      load = wanted
      left = load.rows * load.actions
      done = Promise.withResolvers()
      const seconds = await timed(async () => {
        await addFirstJobs(load.rows)
        await done.promise
      })
      await pool.query('truncate per_cell')
      return seconds
    },
    async close() {
      await runner.stop()
      await jobs.end()
      await pool.query('drop table per_cell')
      await pool.end()
    },
  }
}
