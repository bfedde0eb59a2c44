/** The most cells that wait in place at the same time. Each takes a place for rows that other cells need as well. */
const MAX_WAITING = 16

type Waiting = { rowId: string; wake: (hasEnded: boolean) => void }

/** The ends of the reservations of an organisation, for cells that wait for credits which others hold. */
export class ReservationEnds {
  #count = 0
  #waiting: Waiting[] = []

  /** Returns a number that rises with every end. */
  get count(): number {
    return this.#count
  }

  get waiting(): number {
    return this.#waiting.length
  }

  /** Notes that a reservation has ended. Waiting cells look again, in the order of their rows (D93). */
  note(): void {
    this.#count += 1
    if (this.#waiting.length === 0) return
    const waiting = this.#waiting.toSorted((one, other) => (one.rowId < other.rowId ? -1 : 1))
    this.#waiting = []
    for (const { wake } of waiting) wake(true)
  }

  /**
   * Waits until a reservation has ended since `count`. Returns false if none does within `ms`, or too many cells wait already.
   */
  async next(count: number, rowId: string, ms: number): Promise<boolean> {
    if (this.#count !== count) return true
    if (ms <= 0 || this.#waiting.length >= MAX_WAITING) return false
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const waiting = { rowId, wake: resolve }
    this.#waiting.push(waiting)
    const timer = setTimeout(() => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting)
      resolve(false)
    }, ms)
    return promise.finally(() => clearTimeout(timer))
  }
}
