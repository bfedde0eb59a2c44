import { defineProvider } from '../../provider/provider.ts'

export const serper = defineProvider({
  id: 'serper',
  name: 'Serper',
  evidence: 'serper.dev; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://google.serper.dev',
  auth: { kind: 'header', name: 'X-API-KEY' },
  limits: { perSecond: 50, concurrent: 50 },
  // An exhausted balance has status 400.
  classify: ({ status, word }) => (status === 400 && /credit/i.test(word('message')) ? 'no_credits' : null),
  probe: { path: '/account' },
})
