import { defineProvider } from '../../provider/provider.ts'
import type { RefusalKind } from '../../provider/reply.ts'

const CODES: Record<string, RefusalKind> = {
  NO_MATCH: 'miss',
  NO_RESULTS: 'miss',
  INVALID_DATAPOINTS: 'ineligible',
  INVALID_API_KEY: 'unconfigured',
  INSUFFICIENT_CREDITS: 'no_credits',
  RATE_LIMITED: 'rate_limited',
}

export const prospeo = defineProvider({
  id: 'prospeo',
  name: 'Prospeo',
  baseUrl: 'https://api.prospeo.io',
  auth: { kind: 'header', name: 'X-KEY' },
  limits: { perSecond: 5, concurrent: 20 },
  // Misses and refused keys come as 400, told apart by a code.
  classify: ({ word }) => CODES[word('error_code')] ?? null,
  probe: { path: '/account-information' },
})
