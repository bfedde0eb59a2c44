import { defineProvider } from '../../provider/provider.ts'

export const apollo = defineProvider({
  id: 'apollo',
  name: 'Apollo',
  baseUrl: 'https://api.apollo.io',
  auth: { kind: 'header', name: 'x-api-key' },
  limits: { perMinute: 200, concurrent: 10 },
  // 422 is a plan that ran out, or a question with too little in it.
  statuses: { 404: 'miss' },
  classify: ({ status, word }) =>
    status === 422 ? (/credit|plan|limit/i.test(word('error')) ? 'no_credits' : 'ineligible') : null,
  probe: { path: '/api/v1/auth/health' },
})
