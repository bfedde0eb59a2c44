import { isObject } from '../../../lib/json/object.ts'
import { defineProvider } from '../../provider/provider.ts'

export const builtwith = defineProvider({
  id: 'builtwith',
  name: 'BuiltWith',
  evidence:
    'api.builtwith.com/domain-api (v21); an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.builtwith.com',
  auth: { kind: 'query', name: 'KEY' },
  limits: { perSecond: 8, concurrent: 8 },
  statuses: { 404: 'miss' },
  // Refused keys are reported with 200, in a list of errors.
  classify: ({ body }) => {
    const text = JSON.stringify(isObject(body) ? (body['Errors'] ?? []) : [])
    if (/credit/i.test(text)) return 'no_credits'
    return /key/i.test(text) ? 'unconfigured' : null
  },
  probe: { path: '/usagev2/api.json' },
})
