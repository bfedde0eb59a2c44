import { defineProvider } from '../../provider/provider.ts'

export const linkup = defineProvider({
  id: 'linkup',
  name: 'Linkup',
  evidence: 'the Linkup tools of Sim; its probe and quota are inferred; read November 2026',
  baseUrl: 'https://api.linkup.so',
  auth: { kind: 'bearer' },
  limits: { perSecond: 10, concurrent: 10 },
  timeoutMs: 60_000,
  statuses: { 400: 'ineligible' },
  // Exhausted credits also have the status 429.
  classify: ({ status, body }) =>
    status === 429 && /insufficient|credit/i.test(JSON.stringify(body) ?? '') ? 'no_credits' : null,
  probe: { path: '/v1/credits/balance' },
})
