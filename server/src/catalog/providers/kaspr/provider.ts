import { defineProvider } from '../../provider/provider.ts'

export const kaspr = defineProvider({
  id: 'kaspr',
  name: 'Kaspr',
  evidence: 'public clients of /profile/linkedin, second check; read November 2026',
  baseUrl: 'https://api.developers.kaspr.io',
  auth: { kind: 'bearer' },
  headers: { 'accept-version': 'v2.0' },
  limits: { perMinute: 60, concurrent: 5 },
  statuses: { 404: 'miss' },
  // Used-up credits are reported with 200.
  classify: ({ word }) => (/no credits? left/i.test(word('message')) ? 'no_credits' : null),
  probe: { path: '/keys/remainingCredits' },
})
