/** Rows that are drawn anew in one frame: more would hold it up while the grid scrolls. */
const MAX_TOLD_MOVING = 4
const MAX_TOLD_STILL = 20

/** Whoever shows a row hears of its changes, a few rows in a frame. */
export class RowListeners {
  readonly #isMoving: () => boolean
  #listeners = new Map<number, Set<() => void>>()
  /** Rows that have changed, and whoever shows them does not know yet. */
  #untold = new Set<number>()
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

  tell(index: number): void {
    for (const listener of this.#listeners.get(index) ?? []) listener()
  }

  tellSoon(index: number): void {
    if (!this.#listeners.has(index)) return
    this.#untold.add(index)
    this.#frame ||= requestAnimationFrame(() => this.#tellSome())
  }

  clear(): void {
    cancelAnimationFrame(this.#frame)
    this.#frame = 0
    this.#untold.clear()
    this.#listeners.clear()
  }

  #tellSome(): void {
    const told = [...this.#untold].slice(0, this.#isMoving() ? MAX_TOLD_MOVING : MAX_TOLD_STILL)
    for (const index of told) {
      this.#untold.delete(index)
      this.tell(index)
    }
    this.#frame = this.#untold.size === 0 ? 0 : requestAnimationFrame(() => this.#tellSome())
  }
}
