import { LRUCache } from 'lru-cache'
import type { Db } from '../../../database/connection/db.ts'
import { findBudgetLimits } from '../../../money/store/limits/budget-limits.ts'
import type { RunFacts } from '../flights/flight.ts'

/** The time for which the list of budgets that count a run may be used. */
const BUDGETS_MS = 1000

/** The limits that a run draws on, beside the balance: its cap, and those of budgets. */
export type RunLimits = {
  /** Returns what was read within the last second, or null if it must be read. */
  known(facts: RunFacts): readonly string[] | null
  read(facts: RunFacts): Promise<readonly string[]>
}

export function createRunLimits(db: Db): RunLimits {
  const found = new LRUCache<string, readonly string[]>({ max: 1000, ttl: BUDGETS_MS })
  const reading = new Map<string, Promise<readonly string[]>>()
  const keyOf = ({ run_id, cap_purse_id }: RunFacts) => `${run_id} ${cap_purse_id}`

  async function read(facts: RunFacts): Promise<readonly string[]> {
    const { cap_purse_id: cap } = facts
    const budgets = await findBudgetLimits(db, facts)
    const limits = cap === null ? budgets : [cap, ...budgets]
    found.set(keyOf(facts), limits)
    return limits
  }

  return {
    known: (facts) => found.get(keyOf(facts)) ?? null,
    read(facts) {
      const key = keyOf(facts)
      const asked = reading.get(key) ?? read(facts).finally(() => reading.delete(key))
      reading.set(key, asked)
      return asked
    },
  }
}
