import { isObject } from '../../../lib/json/object.ts'
import { defineProvider } from '../../provider/provider.ts'

export const smartlead = defineProvider({
  id: 'smartlead',
  name: 'Smartlead',
  evidence:
    'api.smartlead.ai/reference (campaigns, leads; 10 calls in 2 s); the counts of a reply, also skipped_in_other_campaign_count: several public clients; read 2026-11-20',
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
