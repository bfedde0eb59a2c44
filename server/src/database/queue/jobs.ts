/**
 * The schemas of graphile-worker, one for each queue. Tens of thousands of groups of rows may wait at once, and a search for
 * another kind of job would read all of them, so groups have a queue of their own. So have long jobs, of which each
 * organisation runs a few at a time.
 */
export const QUEUES = { jobs: 'graphile_worker', groups: 'graphile_groups', long: 'graphile_long' } as const
export type Queue = keyof typeof QUEUES

export const MAX_ATTEMPTS = 25

/** The fields of the composite type `job_spec`. `add_jobs` reads them by position. */
export const JOB_SPEC = [
  'identifier',
  'payload',
  'queue_name',
  'run_at',
  'max_attempts',
  'job_key',
  'priority',
  'flags',
] as const

/**
 * The jobs to add, one for each row of `from`. All fields but `task` are SQL expressions. At most one job exists for each
 * `key`.
 */
export type JobsToAdd = {
  task: string
  payload: string
  priority: string
  runAt?: string
  key?: string
  /** The text after `from`: a table or subquery, and conditions. */
  from: string
  orderBy?: string
}

/**
 * Returns a statement that adds jobs and returns their number. It becomes part of a larger statement that selects the rows.
 */
export function addJobsStatement(queue: Queue, jobs: JobsToAdd): string {
  const schema = QUEUES[queue]
  const given: Partial<Record<(typeof JOB_SPEC)[number], string | undefined>> = {
    identifier: `'${jobs.task}'`,
    payload: jobs.payload,
    run_at: jobs.runAt,
    max_attempts: String(MAX_ATTEMPTS),
    job_key: jobs.key,
    priority: jobs.priority,
  }
  const fields = JOB_SPEC.map((field) => given[field] ?? 'null').join(', ')
  const order = jobs.orderBy === undefined ? '' : ` order by ${jobs.orderBy}`
  // Without this condition, adding no job would still wake every worker.
  return `select count(*) from ${schema}.add_jobs((
    select array_agg((${fields})::${schema}.job_spec${order}) from ${jobs.from}))
    where exists (select from ${jobs.from})`
}

/** Selects the most urgent priority among waiting groups. Groups without a priority (0) take no part in the order of runs. */
export const NEXT_GROUP_PRIORITY = `select priority from ${QUEUES.groups}._private_jobs
  where is_available and priority > 0 order by priority, run_at limit 1`
