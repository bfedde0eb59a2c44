import { isUnavailable } from '../../../database/connection/db.ts'
import { isFromDatabase } from '../../../database/connection/faults.ts'

/** A statement under way for so long is one that hangs; those of actions take milliseconds. */
const HANGS_MS = 10_000

/** What the call of an action asked of the database on its behalf. An outage there says nothing about the cell. */
export class DatabaseUse {
  /** Made when it is needed: there is one of these for every cell. */
  #underWay: Set<{ since: number }> | undefined
  #fault: Error | undefined

  /** Notes how it ends, whatever the action makes of it. */
  async watch<Result>(asked: Promise<Result>): Promise<Result> {
    const use = { since: performance.now() }
    const underWay = (this.#underWay ??= new Set())
    underWay.add(use)
    try {
      return await asked
    } catch (cause) {
      if (isOutage(cause)) this.#fault = cause
      throw cause
    } finally {
      underWay.delete(use)
    }
  }

  /** The outage that the call met, also when the action has made something else of it. */
  get fault(): Error | undefined {
    return this.#fault
  }

  /** Whether the database is what a call of `limitMs` has waited for. */
  hangs(limitMs: number): boolean {
    const enough = Math.min(HANGS_MS, limitMs / 2)
    return [...(this.#underWay ?? [])].some(({ since }) => performance.now() - since >= enough)
  }
}

/** The database went away, in contrast to somebody else's server. */
export function isOutage(cause: unknown): cause is Error {
  return isUnavailable(cause) && isFromDatabase(cause)
}
