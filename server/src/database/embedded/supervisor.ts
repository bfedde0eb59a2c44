import { setTimeout as sleep } from 'node:timers/promises'
import { describeFailures, STARTING_AGAIN } from '../../lib/log-lines.ts'
import { type Postmaster, type ShutdownMode, waitUntilReady } from './postmaster.ts'

export type Supervisor = {
  /** Starts PostgreSQL, and starts it again whenever it ends. Rejects if the first start fails. */
  start: () => Promise<void>
  stop: (mode: ShutdownMode) => Promise<void>
}

type Steps = { clear: () => Promise<void>; launch: () => Postmaster; log: (line: string) => void }

export function createSupervisor({ clear, launch, log }: Steps): Supervisor {
  const stopping = new AbortController()
  let postmaster: Postmaster | undefined
  let keeping: Promise<void> | undefined

  async function keepRunning(first: Postmaster): Promise<void> {
    let failures: number[] = []
    let cause = await describeEnd(first)
    while (!stopping.signal.aborted) {
      failures = [...failures, Date.now()].filter((time) => time > Date.now() - 30_000)
      const delay = failures.length === 1 ? 0 : Math.min(5000, 50 * 2 ** failures.length)
      const often = failures.length < 5 ? '' : ` ${describeFailures(failures.length)}, now`
      const when = delay === 0 ? 'now' : `in ${delay} ms`
      log(`PostgreSQL went down${often} (${cause}); ${STARTING_AGAIN} ${when}`)
      // An aborted pause ends this loop.
      await sleep(delay, undefined, { signal: stopping.signal }).catch(() => undefined)
      cause = await runAgain().catch(String)
    }
  }

  async function runAgain(): Promise<string> {
    if (!stopping.signal.aborted) await clear()
    if (stopping.signal.aborted) return 'stopped'
    postmaster = launch()
    // If it ends before it is ready, the caller reports that.
    waitUntilReady(postmaster, log).then(
      () => log('PostgreSQL is running again'),
      () => undefined,
    )
    return await describeEnd(postmaster)
  }

  return {
    start: async () => {
      await clear()
      stopping.signal.throwIfAborted()
      postmaster = launch()
      await waitUntilReady(postmaster, log)
      keeping = keepRunning(postmaster)
    },
    stop: async (mode) => {
      stopping.abort()
      await postmaster?.stop(mode)
      await keeping
    },
  }
}

async function describeEnd({ ended, logFile }: Postmaster): Promise<string> {
  return `${await ended}, see ${logFile}`
}
