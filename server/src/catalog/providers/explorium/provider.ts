import { defineProvider } from '../../provider/provider.ts'

export const explorium = defineProvider({
  id: 'explorium',
  name: 'Explorium',
  baseUrl: 'https://api.explorium.ai',
  auth: { kind: 'header', name: 'api_key' },
  limits: { perMinute: 200, concurrent: 10 },
  statuses: { 404: 'miss', 422: 'ineligible' },
  probe: { path: '/v1/credits' },
})
