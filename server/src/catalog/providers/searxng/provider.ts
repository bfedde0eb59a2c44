import { defineProvider } from '../../provider/provider.ts'

/** A self-hosted search engine. LOAM_SEARCH_URL is its address. */
export const searxng = defineProvider({
  id: 'searxng',
  name: 'SearXNG',
  evidence:
    'docs.searxng.org/dev/search_api; an earlier review held it against public clients, November 2026',
  baseUrl: '',
  auth: { kind: 'none' },
  limits: { concurrent: 10 },
})
