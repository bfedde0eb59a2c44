import type { CallOff, CallOffListener } from '../../../lib/egress/request.ts'

/** Receives the call when the time is over. */
type LimitWatcher = { onLimit(): void }

const tell = (watcher: LimitWatcher): void => watcher.onLimit()

/**
 * The timeout of an action's call, and its signal. The time stands still while the action waits for its turn among
 * others. One is made for every cell, so the timer and the signal are made only if they are needed: with a signal for
 * each, the process takes 5.6 us more for a call (medians in turns in one process, 2 x86_64 cores beside others,
 * 2026-11-19). P12 takes 102 us and would miss its bar.
 */
export class CallLimit implements CallOff {
  #controller: AbortController | undefined
  #aborted = false
  /** Listeners that learn of the end without a signal: mostly there is one call at a time. */
  #listener: CallOffListener | undefined
  #others: Set<CallOffListener> | undefined
  #watcher: LimitWatcher | undefined
  #timer: NodeJS.Timeout | undefined
  #leftMs = 0
  #since = 0
  #holds = 0

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#aborted) this.#controller.abort()
    return this.#controller.signal
  }

  get aborted(): boolean {
    return this.#aborted
  }

  addEventListener(_type: 'abort', listener: CallOffListener): void {
    if (this.#listener === undefined) this.#listener = listener
    else (this.#others ??= new Set()).add(listener)
  }

  removeEventListener(_type: 'abort', listener: CallOffListener): void {
    if (this.#listener === listener) this.#listener = undefined
    else this.#others?.delete(listener)
  }

  abort(): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#controller?.abort()
    this.#listener?.handleEvent()
    for (const listener of this.#others ?? []) listener.handleEvent()
  }

  start(ms: number, watcher: LimitWatcher): void {
    this.#leftMs = ms
    this.#watcher = watcher
    this.#run()
  }

  /** Waits for `wait` without counting the time it takes. */
  async hold<Result>(wait: Promise<Result>): Promise<Result> {
    if (this.#holds === 0) this.#rest()
    this.#holds += 1
    try {
      return await wait
    } finally {
      this.#holds -= 1
      this.#run()
    }
  }

  stop(): void {
    this.#rest()
    this.#watcher = undefined
  }

  #run(): void {
    if (this.#holds > 0 || this.#watcher === undefined) return
    this.#since = performance.now()
    this.#timer = setTimeout(tell, this.#leftMs, this.#watcher)
  }

  #rest(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#since))
  }
}
