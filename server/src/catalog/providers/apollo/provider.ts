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
  // 422 is a plan that ran out, or a question with too little in it.
  statuses: { 404: 'miss' },
  classify: ({ status, body, word }) => {
    // The probe is answered 200 whatever the key is.
    if (isObject(body) && body['is_logged_in'] === false) return 'unconfigured'
    return status === 422 ? (/credit|plan|limit/i.test(word('error')) ? 'no_credits' : 'ineligible') : null
  },
  probe: { path: '/api/v1/auth/health' },
})
