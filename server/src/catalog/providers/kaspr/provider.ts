import { defineProvider } from '../../provider/provider.ts'

export const kaspr = defineProvider({
  id: 'kaspr',
  name: 'Kaspr',
  evidence: 'public clients of /profile/linkedin; read November 2026',
  baseUrl: 'https://api.developers.kaspr.io',
  auth: { kind: 'bearer' },
  headers: { 'accept-version': 'v2.0' },
  limits: { perMinute: 60, concurrent: 5 },
  statuses: { 404: 'miss' },
  probe: { path: '/keys/remainingCredits' },
})
