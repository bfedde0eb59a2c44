/** The maximum number of rows to redraw in one frame. More would delay the frame while the grid scrolls. */
const MAX_ROWS_MOVING = 4
const MAX_ROWS_STILL = 20

/** Notifies the listeners of each changed row, a few rows per frame. */
export class RowListeners {
  readonly #isMoving: () => boolean
  #listeners = new Map<number, Set<() => void>>()
  /** Changed rows whose listeners have not been notified yet. */
  #pending = new Set<number>()
  #frame = 0

  constructor(isMoving: () => boolean) {
    this.#isMoving = isMoving
  }

  add(index: number, listener: () => void): () => void {
    const known = this.#listeners.get(index) ?? new Set()
    this.#listeners.set(index, known.add(listener))
    return () => {
      known.delete(listener)
      if (known.size === 0) this.#listeners.delete(index)
    }
  }

  notify(index: number): void {
    for (const listener of this.#listeners.get(index) ?? []) listener()
  }

  notifySoon(index: number): void {
    if (!this.#listeners.has(index)) return
    this.#pending.add(index)
    this.#frame ||= requestAnimationFrame(() => this.#notifySome())
  }

  clear(): void {
    cancelAnimationFrame(this.#frame)
    this.#frame = 0
    this.#pending.clear()
    this.#listeners.clear()
  }

  #notifySome(): void {
    const batch = [...this.#pending].slice(0, this.#isMoving() ? MAX_ROWS_MOVING : MAX_ROWS_STILL)
    for (const index of batch) {
      this.#pending.delete(index)
      this.notify(index)
    }
    this.#frame = this.#pending.size === 0 ? 0 : requestAnimationFrame(() => this.#notifySome())
  }
}
