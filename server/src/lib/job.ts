import type { z } from 'zod'

/**
 * Work that no request waits for: an import, an export, a sweep. It runs on any worker process, at least once: one whose
 * worker died is started again, so a job keeps its progress in the database and goes on from there.
 */
export type Job = JobTime & {
  name: string
  /** Throws when it is to be tried again later; also when `signal` aborts because the process ends. */
  run: (payload: unknown, signal: AbortSignal) => Promise<void>
}

/** When a job starts by itself; without either it is queued by name. */
type JobTime = {
  /** A line of crontab in UTC: started then, once among all processes. */
  cron?: string
  /**
   * Run once a second by every worker process, for what cannot wait for the minute that cron goes by: then the database says
   * what there is to do, and who does it. It is not queued, so it has no payload and no later try but the next second.
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

/** Thrown by a job that somebody else has, or that the end of the process cut off: tried again soon, and nobody's fault. */
export class JobPostponed extends Error {
  override name = 'JobPostponed'
}
