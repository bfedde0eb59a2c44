import { z } from 'zod'
import { defineProvider } from '../../provider/provider.ts'

const Fault = z.object({ error: z.object({ code: z.string() }) })

export const brave = defineProvider({
  id: 'brave',
  name: 'Brave',
  evidence:
    'api-dashboard.search.brave.com/app/documentation; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.search.brave.com',
  auth: { kind: 'header', name: 'X-Subscription-Token' },
  limits: { perSecond: 1, concurrent: 5 },
  // 422 means a rejected question, such as an unknown country, and also an unknown key.
  statuses: { 422: 'ineligible' },
  classify: ({ body }) =>
    Fault.safeParse(body).data?.error.code === 'SUBSCRIPTION_TOKEN_INVALID' ? 'unconfigured' : null,
  probe: { path: '/res/v1/web/search', query: { q: 'loam', count: 1 } },
})
