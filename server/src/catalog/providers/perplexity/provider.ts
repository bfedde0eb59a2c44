import { defineProvider } from '../../provider/provider.ts'

export const perplexity = defineProvider({
  id: 'perplexity',
  name: 'Perplexity',
  evidence: 'the Perplexity tools of Sim; the citations of an answer are inferred; read November 2026',
  baseUrl: 'https://api.perplexity.ai',
  auth: { kind: 'bearer' },
  limits: { perSecond: 3, concurrent: 10 },
  timeoutMs: 60_000,
  statuses: { 400: 'ineligible', 422: 'ineligible' },
})
