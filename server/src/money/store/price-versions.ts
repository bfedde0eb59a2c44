import { type Selectable, sql } from 'kysely'
import { type Db, inTransaction } from '../../database/connection/db.ts'
import type { Schema } from '../../database/connection/schema.ts'

export type PriceVersion = Selectable<Schema['price_versions']>

/** Selects the price version of runs that are enqueued now. It is 1 before any version is recorded. */
export const LATEST_PRICES = sql<number>`coalesce((select max(version) from price_versions), 1)`

export async function findPriceVersion(db: Db, version: number): Promise<PriceVersion | undefined> {
  return db.selectFrom('price_versions').selectAll().where('version', '=', version).executeTakeFirst()
}

export async function getLatestPriceVersion(db: Db): Promise<number> {
  const { rows } = await sql<{ version: number }>`select ${LATEST_PRICES} as version`.execute(db)
  return rows[0]?.version ?? 1
}

/** Returns the current price of a call of the web agent. */
export async function findAgentPrice(db: Db): Promise<number | undefined> {
  const found = await db
    .selectFrom('price_versions')
    .select(sql<number>`(prices->'agent'->'credits')::float8`.as('credits'))
    .orderBy('version', 'desc')
    .limit(sql.lit(1))
    .executeTakeFirst()
  return found?.credits
}

type Contents = { changes: unknown; prices: unknown }

/**
 * Records new prices if they differ from the latest version, and returns the latest version. `make` gets the earlier changes.
 * The lock makes concurrent changes wait for each other.
 */
export async function changePrices(
  db: Db,
  make: (changes: PriceVersion['changes']) => Contents,
): Promise<PriceVersion> {
  return inTransaction(db, async (trx) => {
    await sql`lock table price_versions in share row exclusive mode`.execute(trx)
    const before = await trx
      .selectFrom('price_versions')
      .selectAll()
      .orderBy('version', 'desc')
      .limit(sql.lit(1))
      .executeTakeFirst()
    const { changes, prices } = make(before?.changes ?? [])
    const { rows } = await sql<PriceVersion>`
      insert into price_versions (version, changes, prices)
      select ${(before?.version ?? 0) + 1}::int, ${JSON.stringify(changes)}::jsonb, ${JSON.stringify(prices)}::jsonb
      where not exists (select from price_versions where version = ${before?.version ?? 0}
        and changes = ${JSON.stringify(changes)}::jsonb and prices = ${JSON.stringify(prices)}::jsonb)
      returning *`.execute(trx)
    const latest = rows[0] ?? before
    if (latest === undefined) throw new Error('the database has no price version after one was recorded')
    return latest
  })
}
