import { type Db, isUnavailable, type Store } from '../database/connection/db.ts'
import { createBatcher, ItemFault } from '../lib/timing/batcher.ts'
import { createKeyedBatcher } from '../lib/timing/keyed-batcher.ts'
import { type Answer, type Ingested, ingestForCell, readIngested, toIngested } from './cell-writes.ts'
import type { GivenRecord } from './given-record.ts'
import { readGivenRecord } from './given-record.ts'
import { ingestRecords } from './ingest.ts'
import type { CheckedRecord } from './record.ts'
import { addCellWrites, type CellRun, findCellWrites } from './store/cell-writes.ts'

/** Records of one transaction. */
const MAX_TOGETHER = 200
/** A record counts for one more with each of these. */
const BYTES = 4096

type Item = { orgId: string; cell: CellRun; given: GivenRecord }
type Result = Answer<Ingested>

/** Takes in what the row of a cell says about an entity. */
export type IngestCell = (orgId: string, cell: CellRun, given: GivenRecord) => Promise<Result>

/**
 * Takes in what rows say, those of an organisation that come at the same time in one transaction: each transaction costs a dozen
 * statements, and holds the counter of changes until it is committed, for which all others of the organisation wait.
 */
export function createCellIngest(store: Store): IngestCell {
  const ingest = createKeyedBatcher<Item, Result>({
    keyOf: ({ orgId }) => orgId,
    make({ orgId }) {
      const db = store.org(orgId)
      return createBatcher<Item, Result>({
        maxItems: MAX_TOGETHER,
        maxInFlight: 1,
        sizeOf: ({ given }) => 1 + Math.floor(JSON.stringify(given).length / BYTES),
        run: (items) => ingestTogether(db, orgId, items),
      })
    },
  })
  return (orgId, cell, given) => ingest({ orgId, cell, given })
}

/** Groups of records that one source says and one action wrote, each in a transaction of its own. */
async function ingestTogether(
  db: Db,
  orgId: string,
  items: readonly Item[],
): Promise<(Result | ItemFault)[]> {
  const groups = Map.groupBy(items, ({ cell, given }) => `${cell.action} ${given.source}`)
  const results = new Map<Item, Result | ItemFault>()
  for (const group of groups.values()) {
    for (const [item, result] of await ingestGroup(db, orgId, group)) results.set(item, result)
  }
  return items.map((item) => results.get(item) ?? new ItemFault(new Error('a record had no result')))
}

async function ingestGroup(
  db: Db,
  orgId: string,
  group: readonly Item[],
): Promise<Map<Item, Result | ItemFault>> {
  if (group.length > 1) {
    try {
      return await ingestBatch(db, orgId, group)
    } catch (cause) {
      // One that is refused, or that another worker has written meanwhile, takes no other with it.
      if (isUnavailable(cause)) throw cause
    }
  }
  const results = new Map<Item, Result | ItemFault>()
  for (const item of group) {
    const { cell, given } = item
    results.set(
      item,
      await ingestForCell(db, orgId, cell, given).catch((cause: unknown) => new ItemFault(cause)),
    )
  }
  return results
}

/** Writes once for each cell run: what was written before counts, and the answers are committed with the records. */
async function ingestBatch(db: Db, orgId: string, group: readonly Item[]): Promise<Map<Item, Result>> {
  const cells = group.map(({ cell }) => cell)
  const { answers, now } = await findCellWrites(db, orgId, cells)
  const results = new Map<Item, Result>()
  const toWrite: { item: Item; record: CheckedRecord }[] = []
  for (const [n, item] of group.entries()) {
    const answer = answers[n]
    if (answer !== undefined) {
      results.set(item, { ok: true, value: readIngested(answer) })
      continue
    }
    const read = readGivenRecord(item.given, now)
    if (read.ok) toWrite.push({ item, record: read.record })
    else results.set(item, read)
  }
  const [first] = toWrite
  if (first === undefined) return results
  const { source } = first.item.given
  const records = toWrite.map(({ record }) => record)
  await ingestRecords(
    db,
    orgId,
    { source, actor: first.item.cell.action, records },
    async (trx, ingested) => {
      const known = new Set<string>()
      const written = toWrite.map(({ item }, n) => {
        const { entity_id, created } = toIngested(ingested.results[n])
        // The first record about an entity created it.
        const value = { entity_id, created: created && !known.has(entity_id) }
        known.add(entity_id)
        results.set(item, { ok: true, value })
        return { cell: item.cell, answer: value }
      })
      if (!(await addCellWrites(trx, orgId, written)))
        throw new Error('another worker has written for one of the cells')
    },
  )
  return results
}
