import { defineProvider } from '../../provider/provider.ts'

export const blitz = defineProvider({
  id: 'blitz',
  name: 'Blitz',
  baseUrl: 'https://api.blitz-api.ai',
  auth: { kind: 'header', name: 'x-api-key' },
  limits: { perSecond: 5, concurrent: 10 },
  statuses: { 404: 'miss' },
  probe: { path: '/v2/account/key-info' },
})
