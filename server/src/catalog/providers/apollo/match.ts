import { z } from 'zod'
import type { ProviderRequest } from '../../provider/provider.ts'
import { WireText } from '../../provider/wire-fields.ts'

const Job = z.object({
  title: WireText,
  organization_name: WireText,
  start_date: WireText,
  end_date: WireText,
  current: z.boolean().nullish(),
})
/** A person with all details, for which Apollo charges a credit. */
export const Match = z.object({
  id: WireText,
  name: WireText,
  title: WireText,
  email: WireText,
  email_status: WireText,
  linkedin_url: WireText,
  city: WireText,
  state: WireText,
  country: WireText,
  organization: z.object({ name: WireText, primary_domain: WireText }).nullish(),
  employment_history: z.array(Job).nullish(),
})
export const MatchReply = z.object({ person: Match.nullish() })

type Known = { full_name: string; domain: string; linkedin_url: string; email?: string }

/** Returns the request for one person. Apollo reads parameters from the address and ignores JSON bodies. */
export function matchRequest({ full_name, domain, linkedin_url, email }: Known): ProviderRequest {
  const query = {
    name: full_name || undefined,
    domain: domain || undefined,
    linkedin_url: linkedin_url || undefined,
    email: email || undefined,
    reveal_personal_emails: false,
  }
  return { method: 'POST', path: '/api/v1/people/match', query }
}

/** The most people that one call of `bulkMatchRequest` accepts. */
export const MAX_MATCHES = 10
export const BulkMatchReply = z.object({ matches: z.array(Match.nullable()) })

/**
 * Returns the request for people by their ids. Searches mask last names and return no addresses, so the details are
 * read here.
 */
export function bulkMatchRequest(ids: readonly string[]): ProviderRequest {
  return { method: 'POST', path: '/api/v1/people/bulk_match', json: { details: ids.map((id) => ({ id })) } }
}
