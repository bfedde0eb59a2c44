import { defineProvider } from '../../provider/provider.ts'

export const rocketreach = defineProvider({
  id: 'rocketreach',
  name: 'RocketReach',
  evidence: 'company: its OpenAPI; person lookups: an earlier review; read November 2026',
  baseUrl: 'https://api.rocketreach.co',
  auth: { kind: 'header', name: 'Api-Key' },
  limits: { perSecond: 5, concurrent: 10 },
  statuses: { 404: 'miss' },
  probe: { path: '/api/v2/account' },
})
