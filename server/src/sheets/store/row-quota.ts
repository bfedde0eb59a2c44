import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Db } from '../../database/connection/db.ts'
import { limitSql } from '../../database/connection/limits.ts'
import { takeNamedLock } from '../../database/connection/locks.ts'
import { AppError } from '../../lib/errors.ts'
import { plural } from '../../lib/plural.ts'

/** The organisations that are far from their limit, and the time for which this is trusted. */
const farFromLimit = new LRUCache<string, true>({ max: 10_000, ttl: 10_000 })
/**
 * The distance from the limit that counts as far: more rows than can be added while the entry is trusted, and while
 * transactions that trusted it end.
 */
const LARGE_ROOM = 20_000_000

/**
 * Returns true if `count` more rows might not fit. Far from the limit no transaction waits; near it, rows are added under the
 * lock of `requireRoom`.
 */
export async function isNearRowLimit(db: Db, orgId: string, count: number): Promise<boolean> {
  if (count === 0 || farFromLimit.has(orgId)) return false
  const { rows, limit } = await measureRows(db, orgId)
  if (limit === null) return false
  const isFar = limit - rows - count >= LARGE_ROOM
  if (isFar) farFromLimit.set(orgId, true)
  return !isFar
}

/**
 * Refuses rows beyond the limit of the organisation. Until the transaction ends no other adds rows, so two at once cannot
 * both take the last place. Call it before locking sheets, and for several organisations in the order of their ids.
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

/** Counts the rows of an organisation. Every sheet has a counter, so it reads one record for each sheet. */
export async function measureRows(db: Db, orgId: string): Promise<{ rows: number; limit: number | null }> {
  const { rows } = await sql<{ rows: number; limit: number | null }>`
    select coalesce(sum(next_seq - first_seq - deleted), 0)::bigint as rows, ${limitSql('rowsPerOrg')} as limit
    from sheet_counters where org_id = ${orgId}`.execute(db)
  return rows[0] ?? { rows: 0, limit: null }
}

export const isRowLimit = (cause: unknown): cause is AppError =>
  cause instanceof AppError && cause.code === 'ROW_LIMIT_REACHED'
