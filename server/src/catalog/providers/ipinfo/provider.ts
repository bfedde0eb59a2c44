import { defineProvider } from '../../provider/provider.ts'

export const ipinfo = defineProvider({
  id: 'ipinfo',
  name: 'IPinfo',
  evidence: 'ipinfo.io/developers; named as where it is documented, not checked as of November 2026',
  baseUrl: 'https://ipinfo.io',
  auth: { kind: 'bearer' },
  limits: { concurrent: 10 },
  statuses: { 403: 'unconfigured', 404: 'miss' },
  probe: { path: '/me' },
})
