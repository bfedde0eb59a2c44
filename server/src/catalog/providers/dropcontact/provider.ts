import { defineProvider } from '../../provider/provider.ts'

export const dropcontact = defineProvider({
  id: 'dropcontact',
  name: 'Dropcontact',
  evidence: 'developer.dropcontact.com; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.dropcontact.com',
  auth: { kind: 'header', name: 'X-Access-Token' },
  limits: { perSecond: 5, concurrent: 10 },
  statuses: { 403: 'no_credits' },
  probe: { path: '/v1/account/credits' },
})
