import { defineProvider } from '../../provider/provider.ts'

export const hunter = defineProvider({
  id: 'hunter',
  name: 'Hunter',
  baseUrl: 'https://api.hunter.io',
  auth: { kind: 'header', name: 'X-API-KEY' },
  limits: { perSecond: 10, perMinute: 300, concurrent: 20 },
  // 403 is too fast, 429 the monthly quota, 451 somebody who asked not to be in it.
  statuses: { 403: 'rate_limited', 404: 'miss', 429: 'no_credits', 451: 'miss' },
  probe: { path: '/v2/account' },
})
