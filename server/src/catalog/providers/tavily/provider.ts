import { defineProvider } from '../../provider/provider.ts'

export const tavily = defineProvider({
  id: 'tavily',
  name: 'Tavily',
  evidence: 'docs.tavily.com; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.tavily.com',
  auth: { kind: 'bearer' },
  limits: { perMinute: 100, concurrent: 10 },
  // 432 and 433 mean limits of the plan.
  statuses: { 432: 'no_credits', 433: 'no_credits' },
  probe: { path: '/usage' },
})
