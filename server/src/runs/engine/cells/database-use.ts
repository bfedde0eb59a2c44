import { isUnavailable } from '../../../database/connection/db.ts'
import { isFromDatabase } from '../../../database/connection/faults.ts'

/** The time after which a statement counts as hanging. Statements of actions take milliseconds. */
const HANGS_MS = 10_000

/** The statements that a call of an action waits for. An outage of the database says nothing about the cell. */
export class DatabaseUse {
  /** Created when it is needed, because there is one object of this class for every cell. */
  #underWay: Set<{ since: number }> | undefined
  #fault: Error | undefined

  /** Waits for a statement and notes how it ends, whatever the action makes of it. */
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

  /** Returns the outage that the call met, even if the action has turned it into something else. */
  get fault(): Error | undefined {
    return this.#fault
  }

  /** Returns whether a call with the limit `limitMs` has been waiting for the database. */
  hangs(limitMs: number): boolean {
    const enough = Math.min(HANGS_MS, limitMs / 2)
    return [...(this.#underWay ?? [])].some(({ since }) => performance.now() - since >= enough)
  }
}

/** Returns true for an outage of the database, as opposed to one of an outside server. */
export function isOutage(cause: unknown): cause is Error {
  return isUnavailable(cause) && isFromDatabase(cause)
}
