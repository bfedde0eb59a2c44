import { defineProvider } from '../../provider/provider.ts'

export const parallel = defineProvider({
  id: 'parallel',
  name: 'Parallel',
  evidence: 'the Parallel tools of Sim; read November 2026',
  baseUrl: 'https://api.parallel.ai',
  auth: { kind: 'header', name: 'x-api-key' },
  headers: { 'parallel-beta': 'search-extract-2025-10-10' },
  limits: { perSecond: 5, concurrent: 10 },
  timeoutMs: 60_000,
  statuses: { 422: 'ineligible' },
})
