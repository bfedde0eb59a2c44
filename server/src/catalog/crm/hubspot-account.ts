import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Outcome } from '../outcome.ts'
import type { CellContext } from '../provider/context.ts'
import { findObjectType } from './hubspot-objects.ts'
import { askHubspot, type Found } from './hubspot.ts'

const Account = z.object({
  portalId: z.union([z.string(), z.number()]),
  uiDomain: z.string().default('app.hubspot.com'),
})
type Account = z.infer<typeof Account>

/**
 * The data from which the addresses of an account's pages are made. `account` is null if HubSpot does not return it.
 */
export type Pages = { ok: true; account: Account | null } | { ok: false; outcome: Outcome<never> }

const accountsByConnection = new LRUCache<string, { account: Account | null }>({
  max: 1000,
  ttl: 10 * 60_000,
})

/**
 * Reads the account before a record is written, and again every ten minutes for each connection. A later read could
 * fail only after the record exists.
 */
export async function findPages(connection: string | undefined, context: CellContext): Promise<Pages> {
  const id = (await context.keys.own('hubspot', connection))?.id ?? ''
  const kept = accountsByConnection.get(id)
  if (kept !== undefined) return { ok: true, account: kept.account }
  const request = { path: '/account-info/v3/details' }
  const answer = await askHubspot({ connection, request, schema: Account }, context)
  if (!answer.ok && (answer.outcome.kind !== 'failed' || answer.refusal?.kind === 'unconfigured')) {
    return { ok: false, outcome: answer.outcome }
  }
  // An account that cannot be read costs only the link.
  const account = answer.ok ? answer.body : null
  accountsByConnection.set(id, { account })
  return { ok: true, account }
}

/** Returns the address of a record's page. */
export function pageOf({ url, id }: Found, object: string, account: Account | null): string | null {
  if (url !== undefined && URL.canParse(url)) return url
  const type = findObjectType(object)
  if (account === null || type === null) return null
  return `https://${account.uiDomain}/contacts/${account.portalId}/record/${type}/${id}`
}
