import { defineProvider } from '../../provider/provider.ts'

export const theirstack = defineProvider({
  id: 'theirstack',
  name: 'TheirStack',
  evidence:
    'api.theirstack.com/openapi.json; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.theirstack.com',
  auth: { kind: 'bearer' },
  limits: { perSecond: 4, concurrent: 4 },
  probe: { path: '/v0/billing/credit-balance' },
})
