import { defineProvider } from '../../provider/provider.ts'

export const snov = defineProvider({
  id: 'snov',
  name: 'Snov',
  evidence:
    'snov.io/api (emails by domain by name, v2); an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.snov.io',
  auth: {
    kind: 'oauth',
    grant: 'client_credentials',
    tokenUrl: 'https://api.snov.io/v1/oauth/access_token',
  },
  limits: { perMinute: 60, concurrent: 10 },
  probe: { path: '/v1/get-balance' },
})
