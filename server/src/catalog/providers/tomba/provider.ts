import { defineProvider } from '../../provider/provider.ts'

export const tomba = defineProvider({
  id: 'tomba',
  name: 'Tomba',
  evidence: 'public clients of /v1/email-finder; its probe is inferred; read November 2026',
  baseUrl: 'https://api.tomba.io',
  auth: { kind: 'pair', key: 'X-Tomba-Key', secret: 'X-Tomba-Secret' },
  limits: { perSecond: 5, concurrent: 10 },
  statuses: { 400: 'ineligible', 404: 'miss' },
  probe: { path: '/v1/me' },
})
