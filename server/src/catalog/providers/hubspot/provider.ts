import { isObject } from '../../../lib/json/object.ts'
import { defineProvider } from '../../provider/provider.ts'

export const hubspot = defineProvider({
  id: 'hubspot',
  name: 'HubSpot',
  evidence:
    'developers.hubspot.com/docs/api-reference/2026-03 (contacts/update-contact by email; /oauth/2026-03/token: second check); read 2026-11-20',
  baseUrl: 'https://api.hubapi.com',
  auth: { kind: 'oauth', grant: 'refresh_token', tokenUrl: 'https://api.hubapi.com/oauth/2026-03/token' },
  limits: { perSecond: 10, concurrent: 10 },
  // 403 means a scope that the connection does not have; the key itself is valid.
  statuses: { 400: 'ineligible', 403: 'ineligible', 404: 'ineligible' },
  classify: ({ status, word }) => (status === 429 && word('policyName') === 'DAILY' ? 'no_credits' : null),
  explain: (body) => (isObject(body) && typeof body['message'] === 'string' ? body['message'] : null),
  probe: { path: '/crm/v3/objects/contacts', query: { limit: 1 } },
  requiresOwnKey: true,
})
