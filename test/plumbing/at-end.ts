import { afterAll, onTestFinished } from 'vitest'

type Closing = () => unknown

let isRunning = false
let closings: Closing[] = []

/** Told by the set-up of each file, before it is read and before its first test. */
export function beginFile(): void {
  isRunning = false
  closings = []
}
export function beginTests(): void {
  isRunning = true
}

/**
 * At the end of the calling test file, in reverse order. Vitest hears `afterAll` only while it reads a file: what a test or a hook
 * opens would stay open, and its workers at work, until the process ends.
 */
export function atEnd(close: Closing): void {
  if (isRunning) closings.push(close)
  else afterAll(async () => void (await close()))
}

/** At the end of the calling test, or of its file where no test is running yet. */
export function atEndOfTest(close: Closing): void {
  if (isRunning) onTestFinished(async () => void (await close()))
  else atEnd(close)
}

export async function closeAll(): Promise<void> {
  for (const close of closings.splice(0).toReversed()) await close()
}
