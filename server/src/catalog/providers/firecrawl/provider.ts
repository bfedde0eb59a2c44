import { defineProvider } from '../../provider/provider.ts'

export const firecrawl = defineProvider({
  id: 'firecrawl',
  name: 'Firecrawl',
  evidence: 'the Firecrawl tools of Sim; its probe is inferred; read November 2026',
  baseUrl: 'https://api.firecrawl.dev',
  auth: { kind: 'bearer' },
  limits: { perSecond: 5, concurrent: 5 },
  timeoutMs: 60_000,
  statuses: { 400: 'ineligible' },
  probe: { path: '/v2/team/credit-usage' },
})
