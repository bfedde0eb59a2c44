import type { z } from 'zod'

/**
 * Work that no request waits for: an import, an export, a sweep. It runs on any worker process, at least
 * once: if its worker dies, the job is started again. So a job keeps its progress in the database and
 * continues from there.
 */
export type Job = JobTime & {
  name: string
  /**
   * Runs the job. Throws if it should be retried later, also when `signal` aborts because the process is
   * stopping.
   */
  run: (payload: unknown, signal: AbortSignal) => Promise<void>
}

/** The times at which a job starts by itself. A job without any is enqueued by name. */
type JobTime = {
  /** A crontab line in UTC. The job is started at these times, once among all processes. */
  cron?: string
  /**
   * Runs the job once a second in every worker process, for work that cannot wait for the minute granularity
   * of cron. The database then decides what there is to do and which process does it. The job is not
   * enqueued, so it has no payload, and its only retry is the next second.
   */
  everySecond?: true
}

export function defineJob<Payload>(
  job: JobTime & {
    name: string
    payload: z.ZodType<Payload>
    run: (payload: Payload, signal: AbortSignal) => Promise<void>
  },
): Job {
  const { payload: schema, run, ...rest } = job
  return { ...rest, run: (payload, signal) => run(schema.parse(payload), signal) }
}

/**
 * Thrown by a job that another process is already running, or that was cut off because its process ended. It
 * is retried soon and does not count as a failure.
 */
export class JobPostponed extends Error {
  override name = 'JobPostponed'
}
