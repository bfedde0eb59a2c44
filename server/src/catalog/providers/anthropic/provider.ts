import { defineProvider } from '../../provider/provider.ts'

/** A connection for `ai_generate` with models named `anthropic/<name>`. */
export const anthropic = defineProvider({
  id: 'anthropic',
  name: 'Anthropic',
  evidence: 'docs.anthropic.com/en/api; named as where it is documented, not checked as of November 2026',
  baseUrl: 'https://api.anthropic.com/v1',
  auth: { kind: 'header', name: 'x-api-key' },
  headers: { 'anthropic-version': '2023-06-01' },
  probe: { path: '/models' },
})
