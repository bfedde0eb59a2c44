import { defineProvider } from '../../provider/provider.ts'

export const bouncer = defineProvider({
  id: 'bouncer',
  name: 'Bouncer',
  evidence: 'public clients of /v1.1/email/verify; its probe is inferred; read November 2026',
  baseUrl: 'https://api.usebouncer.com',
  auth: { kind: 'header', name: 'x-api-key' },
  limits: { perMinute: 1000, concurrent: 20 },
  timeoutMs: 35_000,
  statuses: { 400: 'ineligible' },
  probe: { path: '/v1.1/credits' },
})
