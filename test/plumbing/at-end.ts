import { afterAll, onTestFinished } from 'vitest'

type Closing = () => unknown

let isRunning = false
let closings: Closing[] = []

/** Forgets the previous file. The set-up of each file calls this before the file is read. */
export function beginFile(): void {
  isRunning = false
  closings = []
}

/** Marks that tests run. The set-up of each file calls this before its first test. */
export function beginTests(): void {
  isRunning = true
}

/**
 * Calls `close` at the end of the calling test file, in reverse order. Vitest accepts `afterAll` only while
 * it reads a file: otherwise anything that a test or a hook opens would stay open, and its workers would run,
 * until the process ends.
 */
export function atEnd(close: Closing): void {
  if (isRunning) closings.push(close)
  else afterAll(async () => void (await close()))
}

/** Calls `close` at the end of the calling test, or of its file if no test is running yet. */
export function atEndOfTest(close: Closing): void {
  if (isRunning) onTestFinished(async () => void (await close()))
  else atEnd(close)
}

export async function closeAll(): Promise<void> {
  for (const close of closings.splice(0).toReversed()) await close()
}
