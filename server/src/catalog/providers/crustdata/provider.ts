import { defineProvider } from '../../provider/provider.ts'

export const crustdata = defineProvider({
  id: 'crustdata',
  name: 'Crustdata',
  evidence:
    'docs.crustdata.com of 2025-11-01 (/company/enrich, /person/search) and public clients; the schools of a person are inferred; person/enrich by business_emails: docs.crustdata.com/person-docs/enrichment/examples, read 2026-11-20',
  baseUrl: 'https://api.crustdata.com',
  auth: { kind: 'bearer' },
  headers: { 'x-api-version': '2025-11-01' },
  // The limit for lookups is 15 a minute; searches may have 30.
  limits: { perMinute: 15, concurrent: 10 },
  timeoutMs: 30_000,
  // 403 means missing credits, or a plan that does not include the request.
  statuses: { 403: 'no_credits', 404: 'miss' },
  probe: { path: '/user/credits' },
})
