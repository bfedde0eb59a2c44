import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { workAs } from './thread-watch.ts'

export type Poll = { stop(): Promise<void> }

/**
 * Calls `run` again and again with a pause after each call, until it is stopped. A failure is logged, and the
 * next call is the retry.
 */
export function startPoll(
  { name, ms, log }: { name: string; ms: number; log: Log },
  run: (signal: AbortSignal) => Promise<void>,
): Poll {
  const stopping = new AbortController()
  const { signal } = stopping
  const polling = (async () => {
    while (!signal.aborted) {
      await workAs(`job ${name}`, () => run(signal)).catch((cause: unknown) => {
        if (!signal.aborted)
          log.warn({ poll: name, cause: reasonOf(cause) }, 'a poll failed; it is tried again')
      })
      // An aborted pause ends this loop.
      await sleep(ms, undefined, { signal }).catch(() => undefined)
    }
  })()
  return {
    async stop() {
      stopping.abort()
      await polling
    },
  }
}
