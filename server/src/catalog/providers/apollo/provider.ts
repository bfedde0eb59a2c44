import { isObject } from '../../../lib/json/object.ts'
import { defineProvider } from '../../provider/provider.ts'

export const apollo = defineProvider({
  id: 'apollo',
  name: 'Apollo',
  evidence:
    'docs.apollo.io (people/match, people/bulk_match, mixed_people/api_search, organizations/enrich); an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.apollo.io',
  auth: { kind: 'header', name: 'x-api-key' },
  limits: { perMinute: 200, concurrent: 10 },
  // 422 means an exhausted plan, or a question with too few details.
  statuses: { 404: 'miss' },
  classify: ({ status, body, word }) => {
    // The reply to the probe has status 200 even for a bad key.
    if (isObject(body) && body['is_logged_in'] === false) return 'unconfigured'
    return status === 422 ? (/credit|plan|limit/i.test(word('error')) ? 'no_credits' : 'ineligible') : null
  },
  probe: { path: '/api/v1/auth/health' },
})
