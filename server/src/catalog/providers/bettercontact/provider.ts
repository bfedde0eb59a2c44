import { defineProvider } from '../../provider/provider.ts'

export const bettercontact = defineProvider({
  id: 'bettercontact',
  name: 'BetterContact',
  evidence:
    'public clients of app.bettercontact.rocks/api/v2/async; /account refuses good keys without parameters that are not documented: no probe; read November 2026',
  baseUrl: 'https://app.bettercontact.rocks',
  auth: { kind: 'header', name: 'X-API-Key' },
  // A client that continues after a 429 may be locked out.
  limits: { perMinute: 60, concurrent: 10 },
  slowDownMs: 60_000,
})
