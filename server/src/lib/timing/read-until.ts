import { setTimeout as sleep } from 'node:timers/promises'

const SHORTEST_MS = 20
export const LONGEST_MS = 1000

/**
 * Reads repeatedly until `done` returns true, the time is up or `signal` aborts. Returns the last reading.
 * The intervals grow, and no connection is held between readings.
 */
export async function readUntil<Reading>(
  read: () => Promise<Reading>,
  done: (reading: Reading) => boolean,
  { ms, signal }: { ms: number; signal?: AbortSignal },
): Promise<Reading> {
  const start = Date.now()
  for (;;) {
    const reading = await read()
    const spent = Date.now() - start
    if (done(reading) || spent >= ms || signal?.aborted) return reading
    const pause = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, spent / 4), ms - spent)
    await sleep(pause, undefined, signal === undefined ? {} : { signal }).catch(() => undefined)
  }
}
