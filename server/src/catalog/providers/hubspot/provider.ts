import { defineProvider } from '../../provider.ts'

export const hubspot = defineProvider({
  id: 'hubspot',
  name: 'HubSpot',
  baseUrl: 'https://api.hubapi.com',
  auth: { kind: 'oauth', grant: 'refresh_token', tokenUrl: 'https://api.hubapi.com/oauth/v1/token' },
  limits: { perSecond: 10, concurrent: 10 },
  probe: { path: '/crm/v3/objects/contacts', query: { limit: 1 } },
  requiresOwnKey: true,
})
