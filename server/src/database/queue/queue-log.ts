import { Logger } from 'graphile-worker'
import { JobPostponed } from '../../lib/job.ts'
import type { Log } from '../../lib/log.ts'

/** It advises as many connections as jobs at once. Ours run on connections of their own. */
export const POOL_SIZE_ADVICE = 'maxPoolSize'
/** And to take at least as many jobs together as are at work. Ours take long, and another process may have time for them. */
export const BATCH_SIZE_ADVICE = 'localQueueSize'

/**
 * Lines of graphile-worker: warnings and errors are for us, the rest is for its developers. While it stops it complains of jobs
 * that it has in hand and leaves locked: those are given back for it.
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
