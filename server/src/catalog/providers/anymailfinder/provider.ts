import { defineProvider } from '../../provider/provider.ts'

export const anymailfinder = defineProvider({
  id: 'anymailfinder',
  name: 'Anymail Finder',
  evidence: 'public clients of api.anymailfinder.com/v5.1/find-email/person; read November 2026',
  baseUrl: 'https://api.anymailfinder.com',
  auth: { kind: 'header', name: 'Authorization' },
  limits: { perSecond: 10, concurrent: 20 },
  // The provider searches during the request.
  timeoutMs: 90_000,
  statuses: { 400: 'ineligible', 404: 'miss' },
})
