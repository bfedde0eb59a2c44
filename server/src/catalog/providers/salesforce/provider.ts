import { defineProvider } from '../../provider.ts'

export const salesforce = defineProvider({
  id: 'salesforce',
  name: 'Salesforce',
  baseUrl: '',
  baseUrlField: 'instance_url',
  auth: {
    kind: 'oauth',
    grant: 'refresh_token',
    tokenUrl: 'https://login.salesforce.com/services/oauth2/token',
  },
  limits: { concurrent: 20 },
  probe: { path: '/services/data/v59.0/limits' },
  requiresOwnKey: true,
})
