import { defineProvider } from '../../provider/provider.ts'

export const datagma = defineProvider({
  id: 'datagma',
  name: 'Datagma',
  baseUrl: 'https://gateway.datagma.net',
  auth: { kind: 'query', name: 'apiId' },
  limits: { perSecond: 5, concurrent: 10 },
  statuses: { 404: 'miss' },
  probe: { path: '/api/ingress/v1/mine' },
})
