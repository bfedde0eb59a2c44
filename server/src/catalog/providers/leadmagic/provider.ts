import { defineProvider } from '../../provider/provider.ts'

export const leadmagic = defineProvider({
  id: 'leadmagic',
  name: 'LeadMagic',
  baseUrl: 'https://api.leadmagic.io',
  auth: { kind: 'header', name: 'X-API-Key' },
  limits: { perSecond: 5, concurrent: 20 },
  statuses: { 404: 'miss' },
  probe: { method: 'POST', path: '/v1/credits', json: {} },
})
