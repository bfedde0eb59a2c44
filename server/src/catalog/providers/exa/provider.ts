import { defineProvider } from '../../provider/provider.ts'

export const exa = defineProvider({
  id: 'exa',
  name: 'Exa',
  baseUrl: 'https://api.exa.ai',
  auth: { kind: 'header', name: 'x-api-key' },
  limits: { perSecond: 5, concurrent: 10 },
  probe: { method: 'POST', path: '/search', json: { query: 'loam', numResults: 1 } },
})
