import { defineProvider } from '../../provider/provider.ts'

export const parallel = defineProvider({
  id: 'parallel',
  name: 'Parallel',
  evidence:
    'docs.parallel.ai (/v1/search) by K-Dense-AI/scientific-agent-skills, api-contracts.md of 2026-09-30; read 2026-11-20',
  baseUrl: 'https://api.parallel.ai',
  auth: { kind: 'header', name: 'x-api-key' },
  limits: { perSecond: 5, concurrent: 10 },
  timeoutMs: 60_000,
  statuses: { 422: 'ineligible' },
})
