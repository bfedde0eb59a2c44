import { defineProvider } from '../../provider/provider.ts'

export const overpass = defineProvider({
  id: 'overpass',
  name: 'Overpass',
  evidence:
    'its operators in drolbr/Overpass-API issue 791 (user agent, one at a time, 30 s after 429); read 2026-11-20',
  baseUrl: 'https://overpass-api.de',
  auth: { kind: 'none' },
  namesOperator: true,
  // One call at a time, and 30 s after a 429, as its operators ask.
  limits: { perSecond: 1, concurrent: 1 },
  slowDownMs: 30_000,
  // Queries may run as long as they declare, which is 25 seconds in Loam.
  timeoutMs: 40_000,
  statuses: { 400: 'ineligible', 403: 'error', 406: 'error' },
})
