import { defineProvider } from '../../provider/provider.ts'

export const attio = defineProvider({
  id: 'attio',
  name: 'Attio',
  evidence: 'docs.attio.com/rest-api; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.attio.com',
  auth: { kind: 'bearer' },
  limits: { perSecond: 25, concurrent: 10 },
  statuses: { 400: 'ineligible', 404: 'ineligible' },
  probe: { path: '/v2/self' },
  requiresOwnKey: true,
})
