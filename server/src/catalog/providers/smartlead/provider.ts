import { isObject } from '../../../lib/json/object.ts'
import { defineProvider } from '../../provider/provider.ts'

export const smartlead = defineProvider({
  id: 'smartlead',
  name: 'Smartlead',
  evidence:
    'api.smartlead.ai/reference (campaigns, leads; 10 calls in 2 s) and several public clients; read November 2026',
  baseUrl: 'https://server.smartlead.ai/api/v1',
  auth: { kind: 'query', name: 'api_key' },
  limits: { perSecond: 5 },
  statuses: { 400: 'ineligible', 404: 'ineligible', 422: 'ineligible' },
  explain(body) {
    const text = isObject(body) ? (body['message'] ?? body['error']) : undefined
    return typeof text === 'string' ? text : null
  },
  probe: { path: '/campaigns' },
  requiresOwnKey: true,
})
