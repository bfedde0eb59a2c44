import { defineProvider } from '../../provider/provider.ts'

export const blitz = defineProvider({
  id: 'blitz',
  name: 'Blitz',
  evidence: 'the SDKs of Blitz; read November 2026',
  baseUrl: 'https://api.blitz-api.ai',
  auth: { kind: 'header', name: 'x-api-key' },
  limits: { perSecond: 5, concurrent: 10 },
  // The window of the limit is always a minute.
  slowDownMs: 60_000,
  statuses: { 404: 'miss' },
  probe: { path: '/v2/account/key-info' },
})
