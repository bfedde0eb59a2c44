import { readFileSync } from 'node:fs'
import type { Client } from 'pg'
import { ConnectionPool } from '../connection/connection-pool.ts'
import { QUEUES } from './jobs.ts'
import { separateWakes } from './wakes.ts'

/** The setting that records which version of the job queue made its tables. */
export const QUEUE_VERSION = 'graphile_worker_version'

export async function migrateQueue(client: Client, url: string, log: (line: string) => void): Promise<void> {
  await runOwnMigrations(client, url, log)
  await separateWakes(client)
}

/**
 * Runs the migrations of the job queue. They are checked once for each version of the queue, because loading it takes time.
 */
async function runOwnMigrations(client: Client, url: string, log: (line: string) => void): Promise<void> {
  const wanted = JSON.stringify([queueVersion(), ...Object.values(QUEUES)])
  const { rows } = await client.query<{ value: unknown }>('select value from settings where name = $1', [
    QUEUE_VERSION,
  ])
  if (JSON.stringify(rows[0]?.value) === wanted) return
  log('migrating the job queue')
  const { runMigrations, Logger } = await import('graphile-worker')
  const logger = new Logger(() => () => undefined)
  // A pool of our own is certain to be closed before PostgreSQL may be told to stop.
  const pgPool = new ConnectionPool({
    connectionString: url,
    max: 2,
    application_name: 'loam migrations',
  })
  try {
    for (const schema of Object.values(QUEUES)) await runMigrations({ pgPool, schema, logger })
    await prepareLanes(pgPool)
  } finally {
    await pgPool.close()
  }
  await client.query(
    'insert into settings (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value',
    [QUEUE_VERSION, wanted],
  )
}

/** The long jobs that an earlier version kept in the queue of all other jobs. */
const FORMERLY_TOGETHER = [
  'import_file',
  'export_sheet',
  'pull_source',
  'deliver_source_records',
  'evaluate_segment',
  'run_segment_cycle',
]

/** Creates the index that `addLongJob` uses to count jobs in lanes, and moves long jobs of earlier versions. */
async function prepareLanes(pgPool: ConnectionPool): Promise<void> {
  await pgPool.query(`create index if not exists jobs_by_lane on ${QUEUES.long}._private_jobs (job_queue_id)`)
  // One statement moves a job, so it is always in exactly one queue. Moved jobs run one after the other.
  await pgPool.query(
    `with moved as (
      delete from ${QUEUES.jobs}._private_jobs j using ${QUEUES.jobs}._private_tasks t
      where t.id = j.task_id and t.identifier = any($1) returning t.identifier, j.*)
    select ${QUEUES.long}.add_job(identifier, payload => payload, run_at => run_at, max_attempts => max_attempts::int,
      queue_name => (payload->>'org_id') || ' moved', job_key => key, priority => 1) from moved`,
    [FORMERLY_TOGETHER],
  )
}

function queueVersion(): string {
  const manifest = readFileSync(
    new URL('../../../../node_modules/graphile-worker/package.json', import.meta.url),
    'utf8',
  )
  return String((JSON.parse(manifest) as { version?: unknown }).version)
}
