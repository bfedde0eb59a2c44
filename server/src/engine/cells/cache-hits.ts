import { parseLossless } from '../../lib/json/lossless-json.ts'
import type { Store } from '../../store/connection/db.ts'
import { createBatchedStatement } from '../flights/batched-statement.ts'
import type { RunFacts } from '../flights/flight.ts'
import { FIND_HITS } from '../sql/find-hits.ts'

type Outputs = Record<string, unknown>
type Asked = { facts: RunFacts; action: string; epoch: number; key: string }

/** Looks up cells in the cache, those of many rows in one statement. Null for one that is not in it. */
export function createCacheHits(store: Store): (asked: Asked) => Promise<Outputs | null> {
  const find = createBatchedStatement<Asked, { outputs: string }>({
    lanes: 2,
    async send(items) {
      const rows = await store.query<{ n: number; outputs: string }>({
        name: 'engine-find-hits',
        text: FIND_HITS,
        values: COLUMNS.map((column) => `{${items.map(column).join(',')}}`),
      })
      const byPlace = new Map(rows.map((row) => [row.n, row]))
      return items.map((_, n) => byPlace.get(n + 1) ?? null)
    },
  })
  return async (asked) => {
    const found = await find(asked)
    return found === null ? null : (parseLossless(found.outputs) as Outputs)
  }
}

/** Ids, words, numbers and dates: nothing in them needs quotes. */
const COLUMNS: ((asked: Asked) => string | number)[] = [
  ({ facts }) => facts.org_id,
  ({ facts }) => facts.sheet_id,
  ({ action }) => action,
  ({ epoch }) => epoch,
  ({ key }) => key,
  ({ facts }) => facts.cache_since ?? 'null',
]
