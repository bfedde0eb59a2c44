import { LoamError, WaitTimeoutError } from './errors.ts'
import { sleep, throwIfAborted } from './pauses.ts'

export type WaitOptions = {
  /** Milliseconds after which WaitTimeoutError is thrown; no limit by default. The work goes on. */
  waitTimeout?: number | undefined
  /** Milliseconds between two looks. */
  pollInterval?: number | undefined
}

/** Returns the function that limits a pause by the end of the waiting, and throws after it. */
export function createDeadline({ waitTimeout = Infinity }: WaitOptions, what: string) {
  const end = Date.now() + waitTimeout
  return (pause: number): number => {
    const left = end - Date.now()
    if (left <= 0) {
      throw new WaitTimeoutError(`${what} did not end within ${waitTimeout} ms; it goes on`)
    }
    return Math.min(pause, left)
  }
}

type Polling<State> = {
  look: () => PromiseLike<State>
  isEnded: (state: State) => boolean
  onState?: ((state: State) => void) | undefined
  what: string
  interval: number
  signal: AbortSignal | undefined
}

/** Looks again and again until the state is an end. Returns that state. */
export async function poll<State>(
  { look, isEnded, onState, what, interval, signal }: Polling<State>,
  options: WaitOptions,
): Promise<State> {
  const limit = createDeadline(options, what)
  for (;;) {
    throwIfAborted(signal)
    const state = await look()
    onState?.(state)
    if (isEnded(state)) return state
    await sleep(limit(options.pollInterval ?? interval), signal)
  }
}

/** Refuses a dry run where the result is waited for: nothing would run. */
export function refuseDryRun(body: object): void {
  if (Reflect.get(body, 'dry_run') === true) {
    throw new LoamError('A dry run cannot be waited for: call the method without waiting, or `runs.estimate`')
  }
}
