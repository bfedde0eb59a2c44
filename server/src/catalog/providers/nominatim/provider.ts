import { defineProvider } from '../../provider/provider.ts'

/**
 * OpenStreetMap's search for places. Its policy: one request a second from the whole application, and an own name in
 * the User-Agent.
 */
export const nominatim = defineProvider({
  id: 'nominatim',
  name: 'Nominatim',
  evidence:
    'nominatim.org/release-docs/latest/api/Search; named as where it is documented, not checked as of November 2026',
  baseUrl: 'https://nominatim.openstreetmap.org',
  auth: { kind: 'none' },
  namesOperator: true,
  limits: { perSecond: 1, concurrent: 1 },
  statuses: { 400: 'ineligible', 403: 'error' },
})
