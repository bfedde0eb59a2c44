import { defineProvider } from '../../provider/provider.ts'

export const crustdata = defineProvider({
  id: 'crustdata',
  name: 'Crustdata',
  evidence:
    'docs.crustdata.com of 2025-11-01 (/company/enrich, /person/search) and public clients; the schools of a person are inferred; read November 2026',
  baseUrl: 'https://api.crustdata.com',
  auth: { kind: 'bearer' },
  headers: { 'x-api-version': '2025-11-01' },
  // 15 lookups a minute; searches would be given 30.
  limits: { perMinute: 15, concurrent: 10 },
  timeoutMs: 30_000,
  // 403 is credits, or a plan without what was asked for.
  statuses: { 403: 'no_credits', 404: 'miss' },
  probe: { path: '/user/credits' },
})
