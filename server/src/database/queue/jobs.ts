/**
 * Schemas of graphile-worker. Groups of rows wait by the ten thousand, and who looks for another kind of job would look through
 * all of them: they have a queue of their own. So have long jobs, of which each organisation has a few at work at a time.
 */
export const QUEUES = { jobs: 'graphile_worker', groups: 'graphile_groups', long: 'graphile_long' } as const
export type Queue = keyof typeof QUEUES

export const MAX_ATTEMPTS = 25

/** Fields of the composite type `job_spec`, which `add_jobs` reads by their place. */
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

/** Jobs to add, one for each row of `from`; all but `task` are expressions of SQL. With a key there is one of it. */
export type JobsToAdd = {
  task: string
  payload: string
  priority: string
  runAt?: string
  key?: string
  /** What follows `from`: a table or subquery, and conditions. */
  from: string
  orderBy?: string
}

/** A statement that adds jobs and answers how many, to be part of a larger one that finds out which. */
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
  // Adding none would wake every worker all the same.
  return `select count(*) from ${schema}.add_jobs((
    select array_agg((${fields})::${schema}.job_spec${order}) from ${jobs.from}))
    where exists (select from ${jobs.from})`
}

/** The most urgent priority among groups that wait; those without one (0) are no part of the order of runs. */
export const NEXT_GROUP_PRIORITY = `select priority from ${QUEUES.groups}._private_jobs
  where is_available and priority > 0 order by priority, run_at limit 1`
