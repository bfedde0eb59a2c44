import { defineProvider } from '../../provider/provider.ts'

export const crustdata = defineProvider({
  id: 'crustdata',
  name: 'Crustdata',
  baseUrl: 'https://api.crustdata.com',
  auth: { kind: 'bearer' },
  headers: { 'x-api-version': '2025-11-01' },
  limits: { perMinute: 60, concurrent: 10 },
  timeoutMs: 30_000,
  statuses: { 404: 'miss' },
  probe: { path: '/user/credits' },
})
