import { Logger } from 'graphile-worker'
import { JobPostponed } from '../../lib/job.ts'
import type { Log } from '../../lib/log.ts'

/** Part of a warning that advises as many connections as jobs at once. Our jobs use connections of their own. */
export const POOL_SIZE_ADVICE = 'maxPoolSize'
/**
 * Part of a warning that advises taking at least as many jobs in advance as run at once. Our jobs take long, and another
 * process may have time for them.
 */
export const BATCH_SIZE_ADVICE = 'localQueueSize'

/**
 * Creates the logger of graphile-worker. Its warnings and errors are for us; the rest is for its developers. While the pool
 * stops, graphile-worker warns about jobs that it leaves locked. Those warnings are only logged for debugging, because Loam
 * gives the jobs back.
 */
export function createQueueLog(log: Log, isStopping: () => boolean): Logger {
  return new Logger((scope) => (level, message, meta) => {
    const line = { worker: scope.label }
    if (isStopping() || meta?.['error'] instanceof JobPostponed) log.debug(line, message)
    else if (level === 'error') log.error(line, message)
    else if (level === 'warning' && !isAdvice(message)) log.warn(line, message)
  })
}

function isAdvice(message: string): boolean {
  return message.includes(POOL_SIZE_ADVICE) || message.includes(BATCH_SIZE_ADVICE)
}
