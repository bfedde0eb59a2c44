import { LRUCache } from 'lru-cache'
import type { RowJob } from '../flights/flight.ts'

const keyOf = ({ o, t, run }: RowJob): string => `${o} ${run ?? t}`

/**
 * The runs whose rows can probably be written as a whole. A run is known by what the jobs of its rows have in common.
 */
export class PureRuns {
  readonly #known = new LRUCache<string, true>({ max: 1000 })
  readonly #looked = new Map<string, PromiseWithResolvers<void>>()

  has(job: RowJob): boolean {
    return this.#known.has(keyOf(job))
  }

  add(job: RowJob): void {
    this.#known.set(keyOf(job), true)
  }

  remove(job: RowJob): void {
    this.#known.delete(keyOf(job))
  }

  /**
   * Notes that one of the first rows of the run is being looked at, until the returned function is called. By then the
   * run has been added, or it will not be.
   */
  lookAt(job: RowJob): () => void {
    const key = keyOf(job)
    const look = this.#looked.get(key) ?? Promise.withResolvers<void>()
    this.#looked.set(key, look)
    return () => {
      if (this.#looked.get(key) === look) this.#looked.delete(key)
      look.resolve()
    }
  }

  /** Resolves when the look at a first row of the run has ended. Returns undefined if none is being looked at. */
  whenKnown(job: RowJob): Promise<void> | undefined {
    return this.#looked.get(keyOf(job))?.promise
  }
}
