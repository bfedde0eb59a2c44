import { defineProvider } from '../../provider/provider.ts'

export const overpass = defineProvider({
  id: 'overpass',
  name: 'Overpass',
  evidence:
    'wiki.openstreetmap.org/wiki/Overpass_API; named as where it is documented, not checked as of November 2026',
  baseUrl: 'https://overpass-api.de',
  auth: { kind: 'none' },
  headers: { 'user-agent': 'Mozilla/5.0 (compatible; Loam/0.1)' },
  limits: { perSecond: 1, concurrent: 2 },
  // Queries may run as long as they declare, which is 25 seconds in Loam.
  timeoutMs: 40_000,
  statuses: { 400: 'ineligible', 403: 'error' },
})
