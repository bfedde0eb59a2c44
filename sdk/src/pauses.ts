import { AbortError } from './errors.ts'

const FIRST_MS = 500
const LONGEST_MS = 8000
/** The longest Retry-After that a call waits for. */
export const MAX_RETRY_AFTER_SECONDS = 60

/** Returns the pause before a retry in milliseconds: twice as long each time, less at most a quarter. */
export const backoff = (retry: number): number =>
  Math.min(LONGEST_MS, FIRST_MS * 2 ** retry) * (1 - Math.random() / 4)

export const abortError = (): AbortError => new AbortError('The call was ended by its signal')

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw abortError()
}

/** Waits, or fails at once when the signal is aborted. */
export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  throwIfAborted(signal)
  await new Promise<void>((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(abortError())
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
