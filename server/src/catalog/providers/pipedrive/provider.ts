import { defineProvider } from '../../provider/provider.ts'

export const pipedrive = defineProvider({
  id: 'pipedrive',
  name: 'Pipedrive',
  baseUrl: 'https://api.pipedrive.com',
  auth: { kind: 'oauth', grant: 'refresh_token', tokenUrl: 'https://oauth.pipedrive.com/oauth/token' },
  limits: { perSecond: 10, concurrent: 10 },
  statuses: { 400: 'ineligible', 404: 'ineligible' },
  probe: { path: '/v1/users/me' },
  requiresOwnKey: true,
})
