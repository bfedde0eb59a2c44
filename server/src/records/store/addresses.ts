import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'

/** A text of an entity that contains an @, as JSON or not. */
export type AddressText = { entityId: string; text: string }

/** Records which entities mention which email addresses. Known mentions are only read. */
export async function addAddresses(db: Db, orgId: string, texts: readonly AddressText[]): Promise<void> {
  if (texts.length === 0) return
  await sql`
    insert into record_addresses (org_id, address, entity_id)
    select distinct ${orgId}::uuid, address, t.entity_id
    from unnest(${texts.map(({ entityId }) => entityId)}::uuid[], ${texts.map(({ text }) => text)}::text[])
      as t (entity_id, text), loam_addresses(t.text) as address
    order by 2, 3
    on conflict do nothing`.execute(db)
}
