import { defineProvider } from '../../provider/provider.ts'

/** A connection for `ai_generate`; with `base_url` to any server that has the same API. */
export const openai = defineProvider({
  id: 'openai',
  name: 'OpenAI',
  evidence:
    'platform.openai.com/docs/api-reference; named as where it is documented, not checked as of November 2026',
  baseUrl: 'https://api.openai.com/v1',
  baseUrlField: 'base_url',
  auth: { kind: 'bearer' },
  probe: { path: '/models' },
})
