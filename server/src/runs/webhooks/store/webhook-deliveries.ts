import { sql } from 'kysely'
import type { RejectedRow } from '#contract/rows.ts'
import type { Db } from '../../../database/connection/db.ts'
import type { SheetKey } from '../../../database/tables/sheet-key.ts'
import { parseLossless } from '../../../lib/json/lossless-json.ts'
import { makeStorable, toStorableJson } from '../../../lib/json/storable.ts'

/** The number of a sheet's deliveries that are kept for inspection. */
export const KEPT_DELIVERIES = 50

/** The result of a delivery: the rows that it became, and its items that were rejected. */
export type DeliveryResult = { row_ids: string[]; rejected: RejectedRow[] }

/** An id that a sender gave to a delivery, as a hash in hex, with the answer to the delivery. */
export type DeliveryKey = SheetKey & { key: string; answer: DeliveryResult }

export const nameOfKey = ({ sheet_id, key }: Pick<DeliveryKey, 'sheet_id' | 'key'>) => `${sheet_id} ${key}`

/**
 * Claims ids that were not claimed before and returns their names (`nameOfKey`). Waits for a transaction that is
 * claiming one of them. All claim in one order, so that two that claim the same ids cannot deadlock.
 */
export async function claimKeys(db: Db, keys: readonly DeliveryKey[]): Promise<Set<string>> {
  if (keys.length === 0) return new Set()
  const { rows } = await sql<{ sheet_id: string; key: string }>`
    insert into webhook_ids (org_id, sheet_id, key, answer)
    select org_id, sheet_id, decode(key, 'hex'), answer
    from jsonb_to_recordset(${JSON.stringify(keys.map(storableKey))}::jsonb) as k (org_id uuid, sheet_id uuid, key text, answer jsonb)
    order by org_id, sheet_id, key
    on conflict (org_id, sheet_id, key) do nothing
    returning sheet_id, encode(key, 'hex') as key`.execute(db)
  return new Set(rows.map(nameOfKey))
}

/**
 * Makes a key storable. The answer contains rejected items as they were sent, which PostgreSQL may be unable to store.
 */
function storableKey(key: DeliveryKey): unknown {
  return key.answer.rejected.length === 0 ? key : makeStorable(key, () => undefined)
}

/** Returns the answers to deliveries with these ids, by their names. */
export async function findAnswers(
  db: Db,
  keys: readonly Omit<DeliveryKey, 'answer'>[],
): Promise<Map<string, DeliveryResult>> {
  if (keys.length === 0) return new Map()
  const { rows } = await sql<{ sheet_id: string; key: string; answer: string }>`
    select i.sheet_id, encode(i.key, 'hex') as key, i.answer::text
    from jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as k (org_id uuid, sheet_id uuid, key text)
    join webhook_ids i on i.org_id = k.org_id and i.sheet_id = k.sheet_id and i.key = decode(k.key, 'hex')`.execute(
    db,
  )
  return new Map(rows.map((row) => [nameOfKey(row), parseLossless(row.answer) as DeliveryResult]))
}

export type DeliveryRecord = {
  at: Date
  status: number
  webhook_id: string | null
  accepted: number
  rejected: number
  reason: string | null
  body: string
}

export type NewDelivery = SheetKey & Omit<DeliveryRecord, 'at'>

/** Keeps the latest deliveries of each sheet. Those that would be dropped at once are not written. */
export async function recordDeliveries(db: Db, deliveries: readonly NewDelivery[]): Promise<void> {
  const bySheet = [...Map.groupBy(deliveries, (delivery) => delivery.sheet_id).values()]
  const latest = bySheet.flatMap((ofSheet) => ofSheet.slice(-KEPT_DELIVERIES))
  // The statement sees what was there before it. Deliveries that another transaction is dropping are left to it.
  await sql`
    with new as (
      select * from jsonb_to_recordset(${toStorableJson(latest)}::jsonb) as d (org_id uuid, sheet_id uuid, status int,
        webhook_id text, accepted int, rejected int, reason text, body text)
    ), added as (
      insert into webhook_deliveries (org_id, sheet_id, status, webhook_id, accepted, rejected, reason, body)
      select org_id, sheet_id, status, webhook_id, accepted, rejected, reason, body from new
    )
    delete from webhook_deliveries where (org_id, sheet_id, delivery_no) in (
      select d.org_id, d.sheet_id, d.delivery_no
      from (select org_id, sheet_id, count(*) as count from new group by org_id, sheet_id) n
      join webhook_deliveries d on d.org_id = n.org_id and d.sheet_id = n.sheet_id and d.delivery_no <= (
        select o.delivery_no from webhook_deliveries o where o.org_id = n.org_id and o.sheet_id = n.sheet_id
        order by o.delivery_no desc offset ${sql.lit(KEPT_DELIVERIES)} - n.count limit 1)
      for update of d skip locked)`.execute(db)
}

/** Lists the latest deliveries first. */
export async function listDeliveries(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  limit = KEPT_DELIVERIES,
): Promise<DeliveryRecord[]> {
  return db
    .selectFrom('webhook_deliveries')
    .select(['at', 'status', 'webhook_id', 'accepted', 'rejected', 'reason', 'body'])
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .orderBy('delivery_no', 'desc')
    .limit(sql.lit(limit))
    .execute()
}

const FORGET_CHUNK = 10_000

/** Forgets a chunk of ids that no sender will send again. Returns whether there may be more. */
export async function forgetOldKeys(db: Db): Promise<boolean> {
  const { numAffectedRows } = await sql`
    delete from webhook_ids where (org_id, sheet_id, key) in (
      select org_id, sheet_id, key from webhook_ids where created_at < now() - interval '7 days'
      order by created_at limit ${sql.lit(FORGET_CHUNK)} for update skip locked)`.execute(db)
  return Number(numAffectedRows ?? 0n) === FORGET_CHUNK
}
