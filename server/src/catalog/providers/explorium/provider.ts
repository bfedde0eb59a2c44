import { defineProvider } from '../../provider/provider.ts'

export const explorium = defineProvider({
  id: 'explorium',
  name: 'Explorium',
  evidence:
    'developers.explorium.ai with the OpenAPI of /v1/prospects/stats, and the n8n node of Explorium; read November 2026',
  baseUrl: 'https://api.explorium.ai',
  auth: { kind: 'header', name: 'api_key' },
  limits: { perMinute: 200, concurrent: 10 },
  statuses: { 404: 'miss', 422: 'ineligible' },
  // A key without credits is refused as a bad one is, but says so.
  classify: ({ status, body }) =>
    status === 403 && /insufficient credits/i.test(JSON.stringify(body) ?? '') ? 'no_credits' : null,
  probe: { path: '/v1/credits' },
})
