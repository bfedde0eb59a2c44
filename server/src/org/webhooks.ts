import { hashToken, randomText } from '../lib/security/keys.ts'
import type { Sealer } from '../lib/security/secrets.ts'
import { type Db, inTransaction } from '../store/connection/db.ts'
import { type Actor, recordAudit } from '../store/organisation/audit.ts'
import type { SheetKey } from '../store/sheets/sheet-key.ts'
import { disableWebhook, enableWebhook, listWebhooks } from '../store/webhooks/webhooks.ts'

const TOKEN_LENGTH = 40
const TOKEN = new RegExp(`^[0-9A-Za-z]{${TOKEN_LENGTH}}$`)

/** Anything else is no webhook's, and needs no look into the database. */
export const isWebhookToken = (text: string): boolean => TOKEN.test(text)

/** Switches the webhook input of a sheet on and answers its token, which stays the same unless it is to be rotated. */
export async function switchWebhookOn(
  db: Db,
  actor: Actor,
  sealer: Sealer,
  sheet: SheetKey,
  options: { rotate?: boolean } = {},
): Promise<string> {
  const rotate = options.rotate ?? false
  const token = randomText(TOKEN_LENGTH)
  const sealed = sealer.seal(token, bindingOf(sheet))
  return inTransaction(db, async (trx) => {
    const [before] = await listWebhooks(trx, sheet.org_id, [sheet.sheet_id])
    const kept = await enableWebhook(trx, sheet, { hash: hashToken(token), sealed }, rotate)
    if (before === undefined || rotate) {
      const action = rotate ? 'webhook.rotated' : 'webhook.enabled'
      await recordAudit(trx, sheet.org_id, actor, { action, target: sheet.sheet_id })
    }
    return kept === sealed ? token : sealer.open(kept, bindingOf(sheet))
  })
}

/** Its address answers 404 from now on. */
export async function switchWebhookOff(db: Db, actor: Actor, sheet: SheetKey): Promise<void> {
  await inTransaction(db, async (trx) => {
    if (!(await disableWebhook(trx, sheet))) return
    await recordAudit(trx, sheet.org_id, actor, { action: 'webhook.disabled', target: sheet.sheet_id })
  })
}

/** The addresses of those sheets that have a webhook input, by sheet. */
export async function webhookUrls(
  db: Db,
  sealer: Sealer,
  publicUrl: string,
  orgId: string,
  sheetIds: readonly string[],
): Promise<Map<string, string>> {
  const webhooks = await listWebhooks(db, orgId, sheetIds)
  return new Map(
    webhooks.map(({ sheet_id, token_sealed }) => [
      sheet_id,
      webhookUrl(publicUrl, sealer.open(token_sealed, bindingOf({ org_id: orgId, sheet_id }))),
    ]),
  )
}

/** D46: where a sheet has a webhook input its copy has one, with a token of its own. */
export async function copyWebhook(
  db: Db,
  actor: Actor,
  sealer: Sealer,
  from: SheetKey,
  to: SheetKey,
): Promise<void> {
  const [webhook] = await listWebhooks(db, from.org_id, [from.sheet_id])
  if (webhook !== undefined) await switchWebhookOn(db, actor, sealer, to)
}

export function webhookUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/hooks/${token}`
}

function bindingOf({ org_id, sheet_id }: SheetKey) {
  return { orgId: org_id, record: `webhook ${sheet_id}` }
}
