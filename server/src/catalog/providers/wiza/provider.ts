import { defineProvider } from '../../provider/provider.ts'

export const wiza = defineProvider({
  id: 'wiza',
  name: 'Wiza',
  evidence: 'wiza.co/api-docs and the Wiza tools of Sim; read November 2026',
  baseUrl: 'https://wiza.co',
  auth: { kind: 'bearer' },
  limits: { perMinute: 300, concurrent: 20 },
  statuses: { 404: 'miss' },
  probe: { path: '/api/meta/credits' },
})
