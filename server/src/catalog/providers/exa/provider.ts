import { defineProvider } from '../../provider/provider.ts'

export const exa = defineProvider({
  id: 'exa',
  name: 'Exa',
  evidence:
    'search: docs.exa.ai/reference/search; answer: the Exa tools of Sim; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.exa.ai',
  auth: { kind: 'header', name: 'x-api-key' },
  limits: { perSecond: 5, concurrent: 10 },
  probe: { method: 'POST', path: '/search', json: { query: 'loam', numResults: 1 } },
})
