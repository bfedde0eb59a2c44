import { defineProvider } from '../../provider/provider.ts'

export const neverbounce = defineProvider({
  id: 'neverbounce',
  name: 'NeverBounce',
  evidence:
    'developers.neverbounce.com/reference; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.neverbounce.com',
  auth: { kind: 'query', name: 'key' },
  limits: { perSecond: 10, concurrent: 20 },
  // Every reply is a 200 whose body names the result of the call.
  classify({ word }) {
    const status = word('status')
    if (status === '' || status === 'success') return null
    if (status === 'auth_failure') return 'unconfigured'
    if (status === 'throttle_triggered' || status === 'temp_unavail') return 'rate_limited'
    return /credit/i.test(word('message')) ? 'no_credits' : 'error'
  },
  probe: { path: '/v4/account/info' },
})
