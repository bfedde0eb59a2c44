import { defineProvider } from '../../provider/provider.ts'

export const wiza = defineProvider({
  id: 'wiza',
  name: 'Wiza',
  evidence: 'company: the Wiza tools of Sim; reveals: an earlier review; read November 2026',
  baseUrl: 'https://wiza.co',
  auth: { kind: 'bearer' },
  limits: { perMinute: 300, concurrent: 20 },
  statuses: { 404: 'miss' },
  probe: { path: '/api/meta/credits' },
})
