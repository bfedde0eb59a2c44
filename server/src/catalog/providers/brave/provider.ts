import { defineProvider } from '../../provider/provider.ts'

export const brave = defineProvider({
  id: 'brave',
  name: 'Brave',
  baseUrl: 'https://api.search.brave.com',
  auth: { kind: 'header', name: 'X-Subscription-Token' },
  limits: { perSecond: 1, concurrent: 5 },
  // A key that it does not know comes as 422.
  statuses: { 422: 'unconfigured' },
  probe: { path: '/res/v1/web/search', query: { q: 'loam', count: 1 } },
})
