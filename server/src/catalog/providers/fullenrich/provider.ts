import { defineProvider } from '../../provider/provider.ts'

export const fullenrich = defineProvider({
  id: 'fullenrich',
  name: 'FullEnrich',
  evidence: 'OpenAPI document of FullEnrich v2 and its own node for n8n; read November 2026',
  baseUrl: 'https://app.fullenrich.com',
  auth: { kind: 'bearer' },
  limits: { perMinute: 60, concurrent: 10 },
  slowDownMs: 60_000,
  statuses: { 400: 'ineligible' },
  // A result that is not ready yet has status 400.
  classify: ({ word }) => (word('code') === 'error.enrichment.in_progress' ? 'answer' : null),
  probe: { path: '/api/v2/account/credits' },
})
