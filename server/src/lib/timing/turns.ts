import { setImmediate as nextTurn } from 'node:timers/promises'
import { resumeWork } from './thread-watch.ts'

/**
 * The length of a turn: long enough to be efficient, short enough that nobody who waits for the event loop
 * notices it.
 */
const TURN_MS = 4

/**
 * Creates a function for work that would block the event loop for long. Await it between small steps: it lets
 * other work run whenever this work has used up its turn.
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
