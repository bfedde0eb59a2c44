import { isObject } from '../../../lib/json/object.ts'
import { defineProvider } from '../../provider/provider.ts'

export const pipedrive = defineProvider({
  id: 'pipedrive',
  name: 'Pipedrive',
  evidence:
    'pipedrive.readme.io (OAuth, v2); developers.pipedrive.com/docs/api/v1/PersonFields (/api/v2/personFields); read 2026-11-20',
  baseUrl: 'https://api.pipedrive.com',
  // Each company has its own address, which comes with a token.
  baseUrlField: 'api_domain',
  auth: {
    kind: 'oauth',
    grant: 'refresh_token',
    tokenUrl: 'https://oauth.pipedrive.com/oauth/token',
    client: 'basic',
    // A personal API token is not part of OAuth.
    secretHeader: 'x-api-token',
  },
  limits: { perSecond: 10, concurrent: 10 },
  statuses: { 400: 'ineligible', 404: 'ineligible' },
  explain: (body) => (isObject(body) && typeof body['error'] === 'string' ? body['error'] : null),
  probe: { path: '/v1/users/me' },
  requiresOwnKey: true,
})
