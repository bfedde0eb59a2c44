import type { Definition } from '../../catalog/chain/definition.ts'
import { listTargetKeys } from '../../catalog/configuration/target-fields.ts'
import type { SheetAnswer } from '../../catalog/define.ts'
import type { Catalogue } from '../../catalog/registry.ts'
import type { Db, Store } from '../../database/connection/db.ts'
import type { RunFacts } from '../../database/queue/run-facts.ts'
import { isUuid } from '../../lib/ids.ts'
import { createBatcher } from '../../lib/timing/batcher.ts'
import { createKeyedBatcher } from '../../lib/timing/keyed-batcher.ts'
import { getDefinition } from '../../sheets/store/definitions.ts'
import { findReachableSheet } from '../../sheets/store/sheet-reach.ts'
import type { SheetRecord } from '../../sheets/store/sheets.ts'

export type Target = { sheet: SheetRecord; definition: Definition }
/** An action of a run, and the sheet that it names. */
export type Targeting = { facts: RunFacts; action: string; sheetId: string }

/** Finds the sheet that an action names, if those for whom the action runs may use it now. */
export async function findTarget(
  db: Db,
  catalogue: Pick<Catalogue, 'get'>,
  { facts, action, sheetId }: Targeting,
): Promise<SheetAnswer<Target>> {
  const configuredWith = listTargetKeys(await getDefinition(db, facts), action, (id) => catalogue.get(id))
  const bounds = configuredWith === null ? null : { configuredWith, startedWith: facts.key_id }
  const sheet = isUuid(sheetId) ? await findReachableSheet(db, facts, sheetId, bounds) : undefined
  if (sheet === undefined) return noSheet(sheetId, bounds === null)
  return { ok: true, value: { sheet, definition: await getDefinition(db, sheet) } }
}

/** Returns the same refusal whether the sheet does not exist, belongs to another organisation, or may not be used. */
const noSheet = (sheetId: string, literal: boolean): SheetAnswer<never> => ({
  ok: false,
  message: `there is no sheet ${sheetId} that the owner of this workflow${literal ? '' : ', and the members who configured the action and started the run,'} may use`,
})

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
