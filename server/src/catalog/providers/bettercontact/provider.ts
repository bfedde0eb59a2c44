import { defineProvider } from '../../provider/provider.ts'

export const bettercontact = defineProvider({
  id: 'bettercontact',
  name: 'BetterContact',
  evidence: 'public clients of app.bettercontact.rocks/api/v2/async and /account; read November 2026',
  baseUrl: 'https://app.bettercontact.rocks',
  auth: { kind: 'header', name: 'X-API-Key' },
  // A client that continues after a 429 may be locked out.
  limits: { perMinute: 60, concurrent: 10 },
  slowDownMs: 60_000,
  probe: { path: '/api/v2/account' },
})
