import { LRUCache } from 'lru-cache'
import type { Store } from '../../../database/connection/db.ts'
import { StoredJson } from '../../../lib/json/stored-json.ts'
import { createBatchedStatement, inGroups } from '../flights/batched-statement.ts'
import type { CellBilling, RunFacts } from '../flights/flight.ts'
import { arrayOf, groupBy } from '../flights/groups.ts'
import { CLAIM_CELLS } from '../sql/claim-cells.ts'
import { FIND_HITS } from '../sql/find-hits.ts'

/** A stored answer as the database returns it. */
export type StoredAnswer = { outputs: string; run_id: string | null; at: number; millis: number }
export type CacheHit = { outputs: StoredJson; billing: CellBilling }

export type AskedCell = { facts: RunFacts; row: string; action: string; epoch: number; key: string }

/** Looks up cells of many rows in one statement. Cells of the first rows of a run do not wait for bulk ones. */
export type CacheHits = {
  /** Returns what is stored for each cell, or null for a cell that is not in the cache. */
  find(asked: readonly AskedCell[], express: boolean): Promise<(CacheHit | null)[]>
  /**
   * Claims a cell. Returns what has been stored for it by now, or `hit: null` if the row has the claim; null if another
   * row has it.
   */
  claim(asked: AskedCell, express: boolean): Promise<{ hit: CacheHit | null } | null>
}

export function createCacheHits(store: Store): CacheHits {
  const finding = { name: 'engine-find-hits', text: FIND_HITS, columns: [] }
  const claiming = { name: 'engine-claim-cells', text: CLAIM_CELLS, columns: ROW_COLUMNS }
  const [find, findExpress] = [createLookup(store, finding, false), createLookup(store, finding, true)]
  const [claim, claimExpress] = [createLookup(store, claiming, false), createLookup(store, claiming, true)]
  return {
    find: async (asked, express) => ((await (express ? findExpress : find)(asked)) ?? []).map(toHit),
    async claim(asked, express) {
      const found = (await (express ? claimExpress : claim)([asked]))?.[0] ?? null
      return found === null ? null : { hit: readHit(found) }
    },
  }
}

/** The place of a cell among those asked for, from 1, or the row that has the claim. */
type Found = { n: number | null; row_id?: string | null } & (StoredAnswer | { outputs: null })
type Statement = { name: string; text: string; columns: readonly Column[] }

/** The most cells in one statement, and how many bulk cells are sent without waiting for more. */
const MAX_CELLS = 1000
const ENOUGH_CELLS = 600

function createLookup(store: Store, { name, text, columns }: Statement, express: boolean) {
  async function send(items: AskedCell[]): Promise<(Found | null)[]> {
    const { firsts, places } = groupBy(items, SHARED_COLUMNS)
    const values = [
      ...SHARED_COLUMNS.map((column) => arrayOf(firsts.map(column))),
      arrayOf(places),
      Buffer.from(items.map(({ key }) => key).join(''), 'hex'),
      ...columns.map((column) => arrayOf(items.map(column))),
    ]
    const byPlace: (Found | undefined)[] = []
    // A row claims one cell at a time.
    const byRow = new Map<string, Found>()
    for (const found of await store.query<Found>({ name, text, values })) {
      if (found.n !== null) byPlace[found.n] = found
      else if (found.row_id !== undefined && found.row_id !== null) byRow.set(found.row_id, found)
    }
    return items.map(({ row }, n) => byPlace[n + 1] ?? byRow.get(row) ?? null)
  }
  return createBatchedStatement<readonly AskedCell[], (Found | null)[]>({
    lanes: express ? 1 : 2,
    throttled: !express,
    maxItems: MAX_CELLS,
    sizeOf: ({ length }) => length,
    ...(express ? {} : { enough: ENOUGH_CELLS }),
    send: inGroups(send),
  })
}

const toHit = (found: Found | null): CacheHit | null => (found === null ? null : readHit(found))

export const readHit = (found: StoredAnswer | { outputs: null }): CacheHit | null =>
  found.outputs === null ? null : { outputs: new StoredJson(found.outputs), billing: billingOf(found) }

/**
 * Billing of stored answers. Answers that were stored together share one object, which is written once for a whole
 * batch.
 */
const billings = new LRUCache<string, CellBilling>({ max: 1000 })

function billingOf({ run_id, at, millis }: StoredAnswer): CellBilling {
  const name = `${run_id} ${at} ${millis}`
  const billing = billings.get(name) ?? { cached: { run_id, at: new Date(at).toISOString(), millis } }
  billings.set(name, billing)
  return billing
}

/** Reads a value of a cell: ids, words, numbers and dates. None of them needs quotes. */
type Column = (asked: AskedCell) => string | number
const ROW_COLUMNS: readonly Column[] = [({ row }) => row, ({ facts }) => facts.run_id]
/** Values that many cells have in common. */
const SHARED_COLUMNS: readonly ((asked: AskedCell) => string | number | null)[] = [
  ({ facts }) => facts.org_id,
  ({ facts }) => facts.sheet_id,
  ({ action }) => action,
  ({ epoch }) => epoch,
  ({ facts }) => facts.fresh_since,
]
