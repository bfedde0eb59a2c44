import { defineProvider } from '../../provider/provider.ts'

export const millionverifier = defineProvider({
  id: 'millionverifier',
  name: 'MillionVerifier',
  evidence: 'developer.millionverifier.com; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.millionverifier.com',
  auth: { kind: 'query', name: 'api' },
  limits: { perSecond: 20, concurrent: 50 },
  timeoutMs: 25_000,
  // Errors are reported with 200.
  classify({ word }) {
    const error = word('error')
    if (error === '') return null
    if (/credit/i.test(error)) return 'no_credits'
    return /api ?key|blocked/i.test(error) ? 'unconfigured' : 'error'
  },
  probe: { path: '/api/v3/credits' },
})
