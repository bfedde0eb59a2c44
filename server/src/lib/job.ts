import type { z } from 'zod'

/**
 * Work that no request waits for: an import, an export, a sweep. It runs on any worker process, at least once: one whose
 * worker died is started again, so a job keeps its progress in the database and goes on from there.
 */
export type Job = {
  name: string
  /** A line of crontab in UTC: started then by itself, once among all processes. */
  cron?: string
  /** Throws when it is to be tried again later; also when `signal` aborts because the process ends. */
  run: (payload: unknown, signal: AbortSignal) => Promise<void>
}

export function defineJob<Payload>(job: {
  name: string
  cron?: string
  payload: z.ZodType<Payload>
  run: (payload: Payload, signal: AbortSignal) => Promise<void>
}): Job {
  const { payload: schema, run, ...rest } = job
  return { ...rest, run: (payload, signal) => run(schema.parse(payload), signal) }
}
