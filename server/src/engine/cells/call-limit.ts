/**
 * The time that the call of an action may take, and its signal. It stands still while the action waits for its turn among
 * others. Made for every cell, so that timer and signal are made only where they are needed.
 */
export class CallLimit {
  #controller: AbortController | undefined
  #aborted = false
  #onEnd: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #leftMs = 0
  #since = 0
  #holds = 0

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#aborted) this.#controller.abort()
    return this.#controller.signal
  }

  abort(): void {
    this.#aborted = true
    this.#controller?.abort()
  }

  start(ms: number, onEnd: () => void): void {
    this.#leftMs = ms
    this.#onEnd = onEnd
    this.#run()
  }

  /** Time that `wait` takes is not counted. */
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
    this.#onEnd = undefined
  }

  #run(): void {
    if (this.#holds > 0 || this.#onEnd === undefined) return
    this.#since = performance.now()
    this.#timer = setTimeout(this.#onEnd, this.#leftMs)
  }

  #rest(): void {
    if (this.#timer === undefined) return
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#since))
  }
}
