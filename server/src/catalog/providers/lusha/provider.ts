import { defineProvider } from '../../provider/provider.ts'

export const lusha = defineProvider({
  id: 'lusha',
  name: 'Lusha',
  evidence: 'its OpenAPI v3 and docs.lusha.com; that grade A means verified is inferred; read November 2026',
  baseUrl: 'https://api.lusha.com',
  auth: { kind: 'header', name: 'api_key' },
  limits: { perSecond: 5, concurrent: 10 },
  // 451 means a person who must not be shown.
  statuses: { 400: 'ineligible', 404: 'miss', 451: 'miss' },
  probe: { path: '/v3/account/usage' },
})
