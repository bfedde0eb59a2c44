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
  type Known = { limitIds: readonly string[]; cap: string | null; until: number }
  const byRun = new LRUCache<string, Known>({ max: 1000 })
  const asking = new Map<string, Promise<string[]>>()

  return {
    known({ run_id, cap_purse_id }) {
      const found = byRun.get(run_id)
      if (found === undefined || found.cap !== cap_purse_id || performance.now() > found.until) return null
      return found.limitIds
    },
    async read(facts) {
      const { run_id, cap_purse_id: cap } = facts
      const asked = asking.get(run_id) ?? findBudgetLimits(db, facts)
      asking.set(run_id, asked)
      try {
        const found = await asked
        const limitIds = cap === null ? found : [cap, ...found]
        byRun.set(run_id, { limitIds, cap, until: performance.now() + BUDGETS_MS })
        return limitIds
      } finally {
        if (asking.get(run_id) === asked) asking.delete(run_id)
      }
    },
  }
}
