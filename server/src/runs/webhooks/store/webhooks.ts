import { sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'
import type { SheetKey } from '../../../database/tables/sheet-key.ts'

export type WebhookToken = { hash: Buffer; sealed: string }

/**
 * Switches a sheet's webhook on and returns its sealed token: the existing one, or `token` if there is none or it is to
 * be rotated.
 */
export async function enableWebhook(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  token: WebhookToken,
  /** A cap that is undefined stays as it is. */
  { rotate, capMillis }: { rotate: boolean; capMillis: number | null | undefined },
): Promise<string> {
  const { rows } = await sql<{ token_sealed: string }>`
    insert into webhooks as w (org_id, sheet_id, token_hash, token_sealed, max_credits_millis)
    values (${org_id}, ${sheet_id}, ${token.hash}, ${token.sealed}, ${capMillis ?? null}::bigint)
    on conflict (org_id, sheet_id) do update set enabled = true,
      token_hash = case when ${rotate} then excluded.token_hash else w.token_hash end,
      token_sealed = case when ${rotate} then excluded.token_sealed else w.token_sealed end,
      max_credits_millis = case when ${capMillis === undefined} then w.max_credits_millis else excluded.max_credits_millis end
    returning token_sealed`.execute(db)
  const [enabled] = rows
  if (enabled === undefined) throw new Error(`the webhook of sheet ${sheet_id} was not written`)
  return enabled.token_sealed
}

/** Switches a webhook off. Returns whether it was on. */
export async function disableWebhook(db: Db, { org_id, sheet_id }: SheetKey): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhooks')
    .set({ enabled: false })
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .where('enabled', '=', true)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** Lists the sealed tokens of those sheets whose webhook is on. */
export async function listWebhooks(
  db: Db,
  orgId: string,
  sheetIds: readonly string[],
): Promise<{ sheet_id: string; token_sealed: string; max_credits_millis: number | null }[]> {
  if (sheetIds.length === 0) return []
  return db
    .selectFrom('webhooks')
    .select(['sheet_id', 'token_sealed', 'max_credits_millis'])
    .where('org_id', '=', orgId)
    .where('sheet_id', 'in', [...sheetIds])
    .where('enabled', '=', true)
    .execute()
}
