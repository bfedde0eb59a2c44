import { readdirSync, readFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { reasonOf } from './errors.ts'
import type { Log } from './log.ts'

const THREADS = '/proc/self/task'
/** As V8 calls those that mark the heap, and compile, beside the main thread. */
const HELPER = 'V8Worker'

/**
 * On Linux V8's helpers come after the main thread, which otherwise shares a processor with one of them for as long as the heap is
 * marked. What somebody waits for is done by the main thread.
 */
export function lowerHelperThreads(log: Log): void {
  if (process.platform !== 'linux') return
  try {
    for (const thread of listHelperThreads()) setPriority(thread, constants.priority.PRIORITY_LOW)
  } catch (cause) {
    log.debug({ cause: reasonOf(cause) }, "V8's helpers have the same priority as the main thread")
  }
}

export function listHelperThreads(): number[] {
  return readdirSync(THREADS)
    .filter((thread) => readFileSync(`${THREADS}/${thread}/comm`, 'utf8').trim() === HELPER)
    .map(Number)
}
