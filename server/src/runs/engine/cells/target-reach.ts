import type { SheetAnswer } from '../../../catalog/define.ts'
import type { Catalogue } from '../../../catalog/registry.ts'
import type { Store } from '../../../database/connection/db.ts'
import { createBatcher } from '../../../lib/timing/batcher.ts'
import { createKeyedBatcher } from '../../../lib/timing/keyed-batcher.ts'
import { findTarget, type Target, type Targeting } from './target-sheet.ts'

export type ReachTarget = (asked: Targeting) => Promise<SheetAnswer<Target>>

/**
 * Finds the sheets that actions name. Cells that ask for the same sheet at the same time share one statement, which
 * begins after all of them have asked. The answer is not cached.
 */
export function createTargetReach(store: Store, catalogue: Pick<Catalogue, 'get'>): ReachTarget {
  return createKeyedBatcher<Targeting, SheetAnswer<Target>>({
    keyOf: ({ facts, action, sheetId }) =>
      JSON.stringify([facts.org_id, facts.sheet_id, facts.revision, facts.key_id, action, sheetId]),
    make: (first) =>
      createBatcher({
        maxItems: Infinity,
        maxInFlight: 1,
        byTurns: true,
        run: async (asked) => {
          const answer = await findTarget(store.org(first.facts.org_id), catalogue, first)
          return asked.map(() => answer)
        },
      }),
  })
}
