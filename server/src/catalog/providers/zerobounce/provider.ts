import { defineProvider } from '../../provider/provider.ts'

export const zerobounce = defineProvider({
  id: 'zerobounce',
  name: 'ZeroBounce',
  evidence:
    'www.zerobounce.net/docs/email-validation-api-quickstart; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.zerobounce.net',
  auth: { kind: 'query', name: 'api_key' },
  limits: { perSecond: 20, concurrent: 50 },
  // Refused keys are reported with 200; the balance of such a key is -1.
  classify: ({ word }) => (word('error') !== '' || word('Credits') === '-1' ? 'unconfigured' : null),
  probe: { path: '/v2/getcredits' },
})
