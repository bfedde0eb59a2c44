import { parseLossless } from '../../lib/json/lossless-json.ts'
import type { Store } from '../../store/connection/db.ts'
import { createBatchedStatement } from '../flights/batched-statement.ts'
import type { CellBilling, RunFacts } from '../flights/flight.ts'
import { CLAIM_CELLS } from '../sql/claim-cells.ts'
import { FIND_HITS } from '../sql/find-hits.ts'

/** A stored answer as the database has it. */
export type StoredAnswer = { outputs: string; run_id: string | null; at: number; millis: number }
export type CacheHit = {
  outputs: Record<string, unknown>
  from: NonNullable<CellBilling['cached']>
}

export type AskedCell = { facts: RunFacts; row: string; action: string; epoch: number; key: string }

/** Cells of many rows in one statement; those of the first rows of a run do not wait for bulk ones. */
export type CacheHits = {
  /** Null for a cell that is not in the cache. */
  find(asked: AskedCell, express: boolean): Promise<CacheHit | null>
  /** What is stored for the cell by now, or whether the row has the claim to it; null when another row has that. */
  claim(asked: AskedCell, express: boolean): Promise<{ hit: CacheHit | null } | null>
}

export function createCacheHits(store: Store): CacheHits {
  const finding = { name: 'engine-find-hits', text: FIND_HITS, columns: KEY_COLUMNS }
  const claiming = {
    name: 'engine-claim-cells',
    text: CLAIM_CELLS,
    columns: [...KEY_COLUMNS, ...ROW_COLUMNS],
  }
  const [find, findExpress] = [createLookup(store, finding, false), createLookup(store, finding, true)]
  const [claim, claimExpress] = [createLookup(store, claiming, false), createLookup(store, claiming, true)]
  return {
    find: (asked, express) => (express ? findExpress : find)(asked).then(toHit),
    async claim(asked, express) {
      const found = await (express ? claimExpress : claim)(asked)
      return found === null ? null : { hit: readHit(found) }
    },
  }
}

/** The place of a cell among those asked for, from 1, or the row that has the claim. */
type Found = { n: number | null; row_id?: string | null } & (StoredAnswer | { outputs: null })
type Statement = { name: string; text: string; columns: readonly Column[] }

/** In one statement, and of bulk rows before it is sent without waiting for more. */
const MAX_CELLS = 1000
const ENOUGH_CELLS = 600

function createLookup(store: Store, { name, text, columns }: Statement, express: boolean) {
  return createBatchedStatement<AskedCell, Found>({
    lanes: express ? 1 : 2,
    throttled: !express,
    maxItems: MAX_CELLS,
    ...(express ? {} : { enough: ENOUGH_CELLS }),
    async send(items) {
      const values = columns.map((column) => `{${items.map(column).join(',')}}`)
      const byPlace = new Map<number | string | null | undefined, Found>()
      for (const found of await store.query<Found>({ name, text, values }))
        byPlace.set(found.n ?? found.row_id, found)
      // A row asks for one cell at a time.
      return items.map(({ row }, n) => byPlace.get(n + 1) ?? byPlace.get(row) ?? null)
    },
  })
}

const toHit = (found: Found | null): CacheHit | null => (found === null ? null : readHit(found))

export const readHit = (found: StoredAnswer | { outputs: null }): CacheHit | null =>
  found.outputs === null
    ? null
    : {
        outputs: parseLossless(found.outputs) as CacheHit['outputs'],
        from: { run_id: found.run_id, at: new Date(found.at).toISOString(), millis: found.millis },
      }

/** Ids, words, numbers, dates and bytes: nothing in them needs quotes. */
type Column = (asked: AskedCell) => string | number
const KEY_COLUMNS: readonly Column[] = [
  ({ facts }) => facts.org_id,
  ({ facts }) => facts.sheet_id,
  ({ action }) => action,
  ({ epoch }) => epoch,
  ({ key }) => `\\\\x${key}`,
  ({ facts }) => facts.cache_since ?? 'null',
]
const ROW_COLUMNS: readonly Column[] = [({ row }) => row, ({ facts }) => facts.run_id]
