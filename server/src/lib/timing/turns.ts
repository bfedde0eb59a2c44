import { setImmediate as nextTurn } from 'node:timers/promises'
import { resumeWork } from './thread-watch.ts'

/** Long enough to be worth a turn, short enough that nobody notices who waits for the event loop. */
const TURN_MS = 4

/**
 * For work that would hold the event loop for long: await it between small steps, and others have their turn whenever
 * this work has had its time.
 */
export function createTurns(ms = TURN_MS): () => Promise<void> | undefined {
  let since = performance.now()
  async function wait(): Promise<void> {
    await nextTurn()
    resumeWork()
    since = performance.now()
  }
  return () => (performance.now() - since < ms ? undefined : wait())
}
