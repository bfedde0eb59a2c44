import { defineProvider } from '../../provider/provider.ts'

export const explorium = defineProvider({
  id: 'explorium',
  name: 'Explorium',
  evidence: 'stats: its documentation with OpenAPI; the rest: an earlier review; read November 2026',
  baseUrl: 'https://api.explorium.ai',
  auth: { kind: 'header', name: 'api_key' },
  limits: { perMinute: 200, concurrent: 10 },
  statuses: { 404: 'miss', 422: 'ineligible' },
  // A key without credits gets the status of a bad key, but the body says so.
  classify: ({ status, body }) =>
    status === 403 && /insufficient credits/i.test(JSON.stringify(body) ?? '') ? 'no_credits' : null,
  probe: { path: '/v1/credits' },
})
