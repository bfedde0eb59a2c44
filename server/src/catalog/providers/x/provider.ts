import { defineProvider } from '../../provider/provider.ts'

export const x = defineProvider({
  id: 'x',
  name: 'X',
  evidence:
    'docs.x.com/x-api/posts/search-recent-posts; named as where it is documented, not checked as of November 2026',
  baseUrl: 'https://api.x.com',
  auth: { kind: 'bearer' },
  // The limit with an app's token is 450 requests in 15 minutes.
  limits: { perMinute: 30 },
  statuses: { 400: 'ineligible' },
  // The monthly cap is a 429 like the short limits, but the body says so.
  classify: ({ status, word }) =>
    status === 429 && /UsageCapExceeded/i.test(`${word('title')} ${word('type')}`) ? 'no_credits' : null,
  probe: { path: '/2/tweets/search/recent', query: { query: 'loam', max_results: 10 } },
})
