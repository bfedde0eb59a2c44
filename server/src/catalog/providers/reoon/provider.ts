import { defineProvider } from '../../provider/provider.ts'

export const reoon = defineProvider({
  id: 'reoon',
  name: 'Reoon',
  evidence:
    'public documentation of the Reoon Email Verifier API and public clients of it; read November 2026',
  baseUrl: 'https://emailverifier.reoon.com',
  auth: { kind: 'query', name: 'key' },
  limits: { perSecond: 5, concurrent: 5 },
  // The provider asks the mail server during the request.
  timeoutMs: 75_000,
  // Errors of a request are reported with 200.
  classify({ word }) {
    if (word('status') !== 'error') return null
    const reason = word('reason')
    if (/credit|balance/i.test(reason)) return 'no_credits'
    return /key|auth/i.test(reason) ? 'unconfigured' : 'ineligible'
  },
  probe: { path: '/api/v1/check-account-balance/' },
})
