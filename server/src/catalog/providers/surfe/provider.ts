import { defineProvider } from '../../provider/provider.ts'

export const surfe = defineProvider({
  id: 'surfe',
  name: 'Surfe',
  baseUrl: 'https://api.surfe.com',
  auth: { kind: 'bearer' },
  limits: { perSecond: 10, concurrent: 20 },
  statuses: { 404: 'miss' },
  probe: { path: '/v1/credits' },
})
