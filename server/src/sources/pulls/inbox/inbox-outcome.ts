import type { Db } from '../../../database/connection/db.ts'
import type { Source } from '../../define.ts'
import type { FoundCompany, ReceivedItem } from '../../receive.ts'
import { printKey } from '../../rows.ts'
import { payForPage } from '../../store/source-holds.ts'
import { addUnresolved, claimVisits, countInbox, takeFromInbox } from '../../store/source-inbox.ts'
import { advancePull, type Claim, lockClaim } from '../../store/source-pulls.ts'
import { lookUpByKey, readRecords } from '../../store/source-records.ts'
import { listSyncs } from '../../store/source-syncs.ts'
import type { SourceFault } from '../../store/sources.ts'
import { type PulledRecord, toRecord } from '../../walk.ts'
import { queueDelivery } from '../jobs.ts'
import { takeRecords } from '../record-intake.ts'

/** An item with the company it belongs to. `item` is null if it can no longer be read. */
export type TakenItem = {
  no: number
  at: Date
  item: ReceivedItem | null
  company: FoundCompany | null
  priceMillis: number
}

type Batch = { source: Source; items: readonly TakenItem[]; error: SourceFault | null }

/**
 * Writes records, visits, counts and credits and removes their items, all in one transaction fenced by the source's
 * version. After any crash an item is either in the inbox or in a record, never in both.
 */
export async function writeInbox(
  db: Db,
  claim: Claim,
  { source, items, error }: Batch,
): Promise<Claim | null> {
  return db.transaction().execute(async (trx) => {
    const locked = await lockClaim(trx, claim)
    if (locked === undefined) return null
    await lookUpByKey(trx)
    const stored = await takeFromInbox(
      trx,
      locked,
      items.map(({ no }) => no),
    )
    const present = items.filter(({ no }) => stored.has(no))
    const { records, unresolved, prices, known } = await foldItems(trx, locked, source, present)
    const taken = await takeRecords(trx, locked, [...records.values()], { limit: records.size, notes: false })
    const costMillis = prices.entries().reduce((sum, [key, price]) => sum + (known.has(key) ? 0 : price), 0)
    await payForPage(trx, locked, { costMillis, records: taken.fresh })
    await addUnresolved(trx, locked, unresolved)
    const isFull = locked.max_records !== null && locked.lead_count + taken.fresh >= locked.max_records
    // Arrivals take the same lock, so none can come between this check and the commit.
    const isEmpty = isFull || (await countInbox(trx, locked)) === 0
    const moved = await advancePull(trx, locked, {
      ...(isFull ? { status: 'completed' as const } : {}),
      walk: null,
      failures: 0,
      error,
      leads: taken.fresh,
      changes: taken.fresh + taken.updated,
      spentMillis: costMillis,
      nextPullAt: isEmpty ? null : locked.now,
      keeps: !isEmpty,
    })
    if (taken.fresh + taken.updated > 0) {
      for (const sync of await listSyncs(trx, locked)) await queueDelivery(trx, sync)
    }
    return moved
  })
}

type Folded = {
  records: Map<string, PulledRecord>
  /** The price of each record, if it is new. */
  prices: Map<string, number>
  /** The keys of records that existed before. */
  known: ReadonlySet<string>
  unresolved: number
}

/** Merges items into their records, in order of arrival. */
async function foldItems(
  trx: Db,
  claim: Claim,
  source: Source,
  items: readonly TakenItem[],
): Promise<Folded> {
  const keyed = items.flatMap(({ item, company, at, priceMillis }) => {
    const key = item?.keyOf(company) ?? null
    return item === null || key === null ? [] : [{ key: printKey(key), item, company, at, priceMillis }]
  })
  const rows = await readRecords(
    trx,
    claim,
    keyed.map(({ key }) => key),
  )
  const fresh = await claimVisits(
    trx,
    claim,
    keyed.flatMap(({ item }) => item.visit ?? []),
  )
  const folded: Folded = {
    records: new Map(),
    prices: new Map(),
    known: new Set(rows.keys()),
    unresolved: items.length - keyed.length,
  }
  for (const { key, item, company, at, priceMillis } of keyed) {
    // Only the first view of a visit in a batch counts the visit.
    const isNewVisit = item.visit === null || fresh.delete(item.visit)
    const parsed = source.row.safeParse(item.fold({ before: rows.get(key) ?? null, company, at, isNewVisit }))
    if (!parsed.success) {
      folded.unresolved += 1
      continue
    }
    rows.set(key, parsed.data)
    folded.records.set(key, toRecord(key, parsed.data))
    folded.prices.set(key, priceMillis)
  }
  return folded
}
