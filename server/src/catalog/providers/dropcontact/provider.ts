import { defineProvider } from '../../provider/provider.ts'

export const dropcontact = defineProvider({
  id: 'dropcontact',
  name: 'Dropcontact',
  baseUrl: 'https://api.dropcontact.com',
  auth: { kind: 'header', name: 'X-Access-Token' },
  limits: { perSecond: 5, concurrent: 10 },
  // Nothing is looked up for an empty contact: it only tells how many credits are left.
  probe: { method: 'POST', path: '/v1/enrich/all', json: { data: [{}] } },
})
