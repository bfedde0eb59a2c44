import { readFileSync } from 'node:fs'
import type { Client } from 'pg'
import { ConnectionPool } from '../connection/connection-pool.ts'
import { QUEUES } from './jobs.ts'
import { separateWakes } from './wakes.ts'

/** The setting that says which version of the job queue made its tables. */
export const QUEUE_VERSION = 'graphile_worker_version'

export async function migrateQueue(client: Client, url: string, log: (line: string) => void): Promise<void> {
  await runOwnMigrations(client, url, log)
  await separateWakes(client)
}

/** The job queue brings migrations of its own; they are looked at once per version of it, as loading it takes time. */
async function runOwnMigrations(client: Client, url: string, log: (line: string) => void): Promise<void> {
  const wanted = JSON.stringify([queueVersion(), ...Object.values(QUEUES)])
  const { rows } = await client.query<{ value: unknown }>('select value from settings where name = $1', [
    QUEUE_VERSION,
  ])
  if (JSON.stringify(rows[0]?.value) === wanted) return
  log('migrating the job queue')
  const { runMigrations, Logger } = await import('graphile-worker')
  const logger = new Logger(() => () => undefined)
  // A pool of ours: it is closed for certain before PostgreSQL may be told to end.
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

/** Long jobs that an earlier version queued among all others. */
const FORMERLY_TOGETHER = [
  'import_file',
  'export_sheet',
  'pull_source',
  'deliver_source_records',
  'evaluate_segment',
  'run_segment_cycle',
]

/** Adding a long job counts those in the lanes of its organisation, by this index. */
async function prepareLanes(pgPool: ConnectionPool): Promise<void> {
  await pgPool.query(`create index if not exists jobs_by_lane on ${QUEUES.long}._private_jobs (job_queue_id)`)
  // One statement, so that a job is here or there. Those that are moved are done one after the other.
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
