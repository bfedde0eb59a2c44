import { defineProvider } from '../../provider/provider.ts'
import type { ReplyMeaning } from '../../provider/reply.ts'

const CODES: Record<string, ReplyMeaning> = {
  NO_MATCH: 'miss',
  NO_RESULTS: 'miss',
  INVALID_DATAPOINTS: 'ineligible',
  INVALID_FILTERS: 'ineligible',
  INVALID_REQUEST: 'ineligible',
  INVALID_API_KEY: 'unconfigured',
  INSUFFICIENT_CREDITS: 'no_credits',
  RATE_LIMITED: 'rate_limited',
  // A 400 for a temporary failure.
  INTERNAL_ERROR: 'outage',
}

export const prospeo = defineProvider({
  id: 'prospeo',
  name: 'Prospeo',
  evidence:
    'public clients of /search-person and /enrich-person, second check; the rest: an earlier review; read November 2026',
  baseUrl: 'https://api.prospeo.io',
  auth: { kind: 'header', name: 'X-KEY' },
  limits: { perSecond: 5, concurrent: 20 },
  // Misses and refused keys have status 400 and differ by a code.
  classify: ({ word }) => CODES[word('error_code')] ?? null,
  probe: { path: '/account-information' },
})
