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

/** An item with whose it is. `item` is null for what cannot be read any more. */
export type TakenItem = {
  no: number
  at: Date
  item: ReceivedItem | null
  company: FoundCompany | null
  priceMillis: number
}

type Batch = { source: Source; items: readonly TakenItem[]; error: SourceFault | null }

/**
 * Records, visits, counts and credits are one transaction with the removal of what they were made of, fenced by the source's
 * version: whatever dies, an item is in the inbox or in a record, and never in both.
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
    const there = await takeFromInbox(
      trx,
      locked,
      items.map(({ no }) => no),
    )
    const present = items.filter(({ no }) => there.has(no))
    const { records, unresolved, prices, known } = await foldItems(trx, locked, source, present)
    const taken = await takeRecords(trx, locked, [...records.values()], { limit: records.size, notes: false })
    const costMillis = prices.entries().reduce((sum, [key, price]) => sum + (known.has(key) ? 0 : price), 0)
    await payForPage(trx, locked, { costMillis, records: taken.fresh })
    await addUnresolved(trx, locked, unresolved)
    const isFull = locked.max_records !== null && locked.lead_count + taken.fresh >= locked.max_records
    // Those who bring more take the same lock: nothing comes between this look and the commit.
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
  /** What a record costs, should it be new. */
  prices: Map<string, number>
  /** Keys of records that were there before. */
  known: ReadonlySet<string>
  unresolved: number
}

/** Puts items into the records that they belong to, in the order in which they arrived. */
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
    // The first view of a visit counts it, the others of the same batch do not.
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
