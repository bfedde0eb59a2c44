import { defineProvider } from '../../provider/provider.ts'

export const findymail = defineProvider({
  id: 'findymail',
  name: 'Findymail',
  evidence: 'the Findymail tools of Sim; read November 2026',
  baseUrl: 'https://app.findymail.com',
  auth: { kind: 'bearer' },
  limits: { perMinute: 300, concurrent: 20 },
  // 423 means a paused subscription.
  statuses: { 404: 'miss', 423: 'no_credits' },
  probe: { path: '/api/credits' },
})
