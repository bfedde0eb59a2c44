import { defineProvider } from '../../provider/provider.ts'

export const surfe = defineProvider({
  id: 'surfe',
  name: 'Surfe',
  evidence: 'its OpenAPI and a copy of its documentation; read November 2026',
  baseUrl: 'https://api.surfe.com',
  auth: { kind: 'bearer' },
  limits: { perSecond: 10, concurrent: 20 },
  statuses: { 404: 'miss' },
  // An exhausted quota gets the status of a bad key, but the body says so.
  classify: ({ status, body }) =>
    status === 403 && /quota|credit/i.test(JSON.stringify(body) ?? '') ? 'no_credits' : null,
  probe: { path: '/v1/credits' },
})
