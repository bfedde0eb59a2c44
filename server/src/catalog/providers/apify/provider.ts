import { defineProvider } from '../../provider/provider.ts'

export const apify = defineProvider({
  id: 'apify',
  name: 'Apify',
  evidence:
    'docs.apify.com/api/v2 (run-sync-get-dataset-items); an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.apify.com',
  auth: { kind: 'bearer' },
  limits: { perSecond: 10, concurrent: 10 },
  // The reply arrives when the actor has ended.
  timeoutMs: 100_000,
  probe: { path: '/v2/users/me' },
})
