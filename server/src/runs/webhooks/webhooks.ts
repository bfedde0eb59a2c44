import type { Warning } from '#contract/envelope.ts'
import { type Db, inTransaction } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { webhookBinding } from '../../lib/security/bindings.ts'
import { hashToken, randomText } from '../../lib/security/keys.ts'
import { type Sealer, tryOpen, unreadable, unreadableWords } from '../../lib/security/secrets.ts'
import { MILLIS } from '../../money/store/credits.ts'
import { changeDailyCap } from '../../money/store/limits/limits.ts'
import { type Actor, recordAudit } from '../../organisation/store/audit.ts'
import { disableWebhook, enableWebhook, listWebhooks } from './store/webhooks.ts'

const TOKEN_LENGTH = 40
const TOKEN = new RegExp(`^[0-9A-Za-z]{${TOKEN_LENGTH}}$`)

/** Returns whether a text can be the token of a webhook. Others need no lookup in the database. */
export const isWebhookToken = (text: string): boolean => TOKEN.test(text)

/**
 * Switches the webhook input of a sheet on and returns its token, which stays the same unless it is to be rotated. The
 * daily cap of its deliveries stays too, unless another cap, or null for none, is given.
 */
export async function switchWebhookOn(
  db: Db,
  actor: Actor,
  sealer: Sealer,
  { sheet, ...options }: { sheet: SheetKey; rotate?: boolean; capMillis?: number | null | undefined },
): Promise<string> {
  const { rotate = false, capMillis } = options
  const token = randomText(TOKEN_LENGTH)
  const sealed = sealer.seal(token, webhookBinding(sheet))
  return inTransaction(db, async (trx) => {
    const [before] = await listWebhooks(trx, sheet.org_id, [sheet.sheet_id])
    const written = { hash: hashToken(token), sealed }
    const kept = await enableWebhook(trx, sheet, written, { rotate, capMillis })
    if (before === undefined || rotate) {
      const action = rotate ? 'webhook.rotated' : 'webhook.enabled'
      await recordAudit(trx, sheet.org_id, actor, { action, target: sheet.sheet_id })
    }
    if (capMillis !== undefined && capMillis !== (before?.max_credits_millis ?? null)) {
      await changeDailyCap(trx, sheet.org_id, `webhook ${sheet.sheet_id}`, capMillis)
      const details = { max_credits_per_day: capMillis === null ? null : capMillis / MILLIS }
      await recordAudit(trx, sheet.org_id, actor, {
        action: 'webhook.capped',
        target: sheet.sheet_id,
        details,
      })
    }
    const opened = kept === sealed ? token : tryOpen(sealer, kept, webhookBinding(sheet))
    if (opened === null) throw unreadable(ADDRESS, mendingOf(sheet))
    return opened
  })
}

/** Switches the webhook input off. Its address answers 404 from now on. */
export async function switchWebhookOff(db: Db, actor: Actor, sheet: SheetKey): Promise<void> {
  await inTransaction(db, async (trx) => {
    if (!(await disableWebhook(trx, sheet))) return
    await recordAudit(trx, sheet.org_id, actor, { action: 'webhook.disabled', target: sheet.sheet_id })
  })
}

/**
 * Returns the addresses of those sheets that have a webhook input, by sheet. An address that cannot be opened is null,
 * with a warning.
 */
export async function webhookUrls(
  db: Db,
  sealer: Sealer,
  publicUrl: string,
  { orgId, sheetIds }: { orgId: string; sheetIds: readonly string[] },
): Promise<{ urls: Map<string, string | null>; warnings: Warning[] }> {
  const webhooks = await listWebhooks(db, orgId, sheetIds)
  const urls = new Map<string, string | null>()
  const warnings: Warning[] = []
  for (const { sheet_id, token_sealed } of webhooks) {
    const token = tryOpen(sealer, token_sealed, webhookBinding({ org_id: orgId, sheet_id }))
    urls.set(sheet_id, token === null ? null : webhookUrl(publicUrl, token))
    if (token !== null) continue
    const message = unreadableWords(ADDRESS, mendingOf({ sheet_id }))
    warnings.push({
      field: `sheets[${sheetIds.indexOf(sheet_id)}].webhook_url`,
      code: 'secret_unreadable',
      message,
    })
  }
  return { urls, warnings }
}

const ADDRESS = 'the address of the webhook'
const mendingOf = ({ sheet_id }: Pick<SheetKey, 'sheet_id'>) =>
  `create a new URL: \`loam webhook enable --sheet ${sheet_id} --rotate\`; deliveries to the old URL are accepted until then`

/** Gives the copy of a sheet a webhook input with a token of its own, if the sheet has one (D46). */
export async function copyWebhook(
  db: Db,
  actor: Actor,
  sealer: Sealer,
  { from, to }: { from: SheetKey; to: SheetKey },
): Promise<void> {
  const [webhook] = await listWebhooks(db, from.org_id, [from.sheet_id])
  if (webhook === undefined) return
  await switchWebhookOn(db, actor, sealer, { sheet: to, capMillis: webhook.max_credits_millis })
}

export function webhookUrl(publicUrl: string, token: string): string {
  return `${publicUrl}/hooks/${token}`
}
