import { defineProvider } from '../../provider/provider.ts'

export const emailable = defineProvider({
  id: 'emailable',
  name: 'Emailable',
  evidence: 'public clients of /v1/verify; its probe is inferred; read November 2026',
  baseUrl: 'https://api.emailable.com',
  auth: { kind: 'query', name: 'api_key' },
  limits: { perSecond: 20, concurrent: 20 },
  statuses: { 400: 'ineligible' },
  probe: { path: '/v1/account' },
})
