import { defineProvider } from '../../provider/provider.ts'

/** Self-hosted: it is where LOAM_SEARCH_URL says. */
export const searxng = defineProvider({
  id: 'searxng',
  name: 'SearXNG',
  baseUrl: '',
  auth: { kind: 'none' },
  limits: { concurrent: 10 },
})
