import { isObject } from '../../../lib/json/object.ts'
import { defineProvider } from '../../provider/provider.ts'

export const instantly = defineProvider({
  id: 'instantly',
  name: 'Instantly',
  evidence:
    'developer.instantly.ai/api-reference/lead (version 2) and several public clients; read November 2026',
  baseUrl: 'https://api.instantly.ai/api/v2',
  auth: { kind: 'bearer' },
  limits: { perSecond: 10, concurrent: 10 },
  statuses: { 400: 'ineligible', 404: 'ineligible', 422: 'ineligible' },
  explain: (body) => (isObject(body) && typeof body['message'] === 'string' ? body['message'] : null),
  probe: { path: '/campaigns', query: { limit: 1 } },
  requiresOwnKey: true,
})
