import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Db } from '../../database/connection/db.ts'
import { limitSql } from '../../database/connection/limits.ts'
import { takeNamedLock } from '../../database/connection/named-lock.ts'
import { AppError } from '../../lib/errors.ts'
import { plural } from '../../lib/plural.ts'

/** Organisations that are far from their limit, and for how long that is believed. */
const roomy = new LRUCache<string, true>({ max: 10_000, ttl: 10_000 })
/** More rows than can arrive while it is believed, and while transactions that believed it end. */
const LARGE_ROOM = 20_000_000

/**
 * Whether so many rows more might not fit. Far from the limit nobody waits for anybody; near it, whoever adds rows does so
 * under the lock of `requireRoom`.
 */
export async function isNearRowLimit(db: Db, orgId: string, count: number): Promise<boolean> {
  if (count === 0 || roomy.has(orgId)) return false
  const { rows, limit } = await measureRows(db, orgId)
  if (limit === null) return false
  const isFar = limit - rows - count >= LARGE_ROOM
  if (isFar) roomy.set(orgId, true)
  return !isFar
}

/**
 * Refuses rows that do not fit into what the organisation may have. Until the end of the transaction nobody else adds any, so
 * that two who come together do not both take the last place. Take it before the locks of sheets, organisations in the order
 * of ids.
 */
export async function requireRoom(trx: Db, orgId: string, count: number): Promise<void> {
  await takeNamedLock(trx, `rows of ${orgId}`)
  const { rows, limit } = await measureRows(trx, orgId)
  if (limit === null || rows + count <= limit) return
  const what = count === 1 ? 'one more does' : `${count} more do`
  throw new AppError(
    'ROW_LIMIT_REACHED',
    `Your organisation has ${plural(rows, 'row')}, and its limit is ${limit} (LOAM_ROWS_PER_ORG): ${what} not fit. Delete rows that you no longer need, or ask the operator for more`,
  )
}

/** Every sheet has its count, so this reads as many records as there are sheets. */
export async function measureRows(db: Db, orgId: string): Promise<{ rows: number; limit: number | null }> {
  const { rows } = await sql<{ rows: number; limit: number | null }>`
    select coalesce(sum(next_seq - first_seq - deleted), 0)::bigint as rows, ${limitSql('rowsPerOrg')} as limit
    from sheet_counters where org_id = ${orgId}`.execute(db)
  return rows[0] ?? { rows: 0, limit: null }
}

export const isRowLimit = (cause: unknown): cause is AppError =>
  cause instanceof AppError && cause.code === 'ROW_LIMIT_REACHED'
