import type { Db } from '../../database/connection/db.ts'
import { findKnownRecords, insertRecords, touchRecords, updateRecords } from '../store/source-records.ts'
import type { SourceKey } from '../store/sources.ts'
import type { PulledRecord } from '../walk.ts'

export type Taken = {
  fresh: number
  updated: number
  unchanged: number
  /** Set if new records beyond the limit were left out. The same page holds them when it is read again. */
  isCut: boolean
}

type Counted = SourceKey & { lead_count: number; change_count: number }

/**
 * Writes records under the lock of their source: new ones at the end, changed ones in place. With `notes`, it only
 * notes which records exist. The caller must increase the source's counts by `fresh` and by `fresh + updated`.
 */
export async function takeRecords(
  trx: Db,
  source: Counted,
  records: readonly PulledRecord[],
  { limit, notes }: { limit: number; notes: boolean },
): Promise<Taken> {
  if (records.length === 0) return { fresh: 0, updated: 0, unchanged: 0, isCut: false }
  const known = await findKnownRecords(
    trx,
    source,
    records.map(({ key }) => key),
  )
  const unknown = records.filter(({ key }) => !known.has(key))
  const fresh = notes ? unknown : unknown.slice(0, limit)
  const changed = records.filter(({ key, hash }) => known.has(key) && known.get(key)?.hash !== hash)
  const same = records.filter(({ key, hash }) => known.get(key)?.hash === hash)
  const imported = changed.filter(({ key }) => known.get(key)?.isImported === true)
  const noted = changed.filter(({ key }) => known.get(key)?.isImported === false)
  const { lead_count: seq, change_count: change } = source
  await insertRecords(trx, source, fresh, notes ? null : { seq, change })
  await updateRecords(trx, source, imported, change + (notes ? 0 : fresh.length))
  await updateRecords(trx, source, noted, null)
  await touchRecords(
    trx,
    source,
    same.map(({ key }) => key),
  )
  return {
    fresh: notes ? 0 : fresh.length,
    updated: imported.length,
    unchanged: same.length + noted.length + (notes ? fresh.length : 0),
    isCut: fresh.length < unknown.length,
  }
}
