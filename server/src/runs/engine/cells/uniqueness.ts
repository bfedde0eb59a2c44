import { createHash } from 'node:crypto'
import type { Definition } from '../../../catalog/chain/definition.ts'
import type { SheetAccess, Uniqueness } from '../../../catalog/define.ts'
import type { Store } from '../../../database/connection/db.ts'
import { createMemo } from '../../../lib/memo.ts'
import { extendKeys, findEarlierRow, findFrontier, registerKey } from '../../../sheets/store/dedupe-keys.ts'
import { getDefinition } from '../../../sheets/store/definitions.ts'
import type { Flight } from '../flights/flight.ts'

type Values = Parameters<SheetAccess['judgeUnique']>[0]

export type JudgeUnique = (flight: Flight, values: Values) => Promise<Uniqueness>

/**
 * How long the frontier that a run sees holds: it only moves on, and who waits a moment longer is judged no differently. That there
 * is none holds for nobody else, whose row may have come since; neither does what another run saw.
 */
const FRONTIER = { max: 1000, ttlMs: 250 }

/**
 * Tells the first row by insertion from later ones with the same values, in whatever order rows run (D72). Inputs of all rows
 * stand in the sheet, so that nobody has to wait. Outputs do not: there a row names its values first, and is judged
 * once every earlier row in flight has named its own. Rows wait for earlier ones only, so that none waits for itself.
 */
export function createUniqueness(store: Store): JudgeUnique {
  const frontiers = createMemo<string | null>(FRONTIER, (frontier) => frontier !== null)

  return async (flight, { texts, inputs, ignoreCase, waitedEnough }) => {
    const { facts, row, position } = flight
    const db = store.org(facts.org_id)
    const columns = inputs === null ? null : columnsOf(await getDefinition(db, facts), inputs)
    if (columns !== null) {
      const compared = { columns, ignoreCase }
      const known = await findEarlierRow(db, facts, row.id, compared)
      if (known !== null) return toUniqueness(known)
      const extended = await extendKeys(db, facts, compared)
      return toUniqueness(extended ? await findEarlierRow(db, facts, row.id, compared) : null)
    }
    const compared = { action: position.action }
    const named = ignoreCase ? texts.map((text) => text.toLowerCase()) : texts
    const key = createHash('sha256').update(JSON.stringify(named)).digest()
    const seq = await registerKey(db, facts, row.id, compared, key)
    const frontier = await frontiers(`${facts.run_id} ${position.action}`, () =>
      findFrontier(db, facts, position.action),
    )
    const isFirstInFlight = seq === null || frontier === null || BigInt(seq) < BigInt(frontier)
    if (!isFirstInFlight && !waitedEnough) return 'unknown yet'
    return toUniqueness(await findEarlierRow(db, facts, row.id, compared))
  }
}

function toUniqueness(hasEarlier: boolean | null): Uniqueness {
  if (hasEarlier === null) return 'unknown yet'
  return hasEarlier ? 'duplicate' : 'unique'
}

/** Null when one of the inputs was deleted meanwhile. */
function columnsOf({ inputs }: Definition, names: readonly string[]): number[] | null {
  const columns = names.flatMap((name) => inputs.find((input) => input.name === name)?.column ?? [])
  return columns.length === names.length ? columns : null
}
