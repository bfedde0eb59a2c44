import { defineProvider } from '../../provider/provider.ts'

export const enrow = defineProvider({
  id: 'enrow',
  name: 'Enrow',
  evidence: 'llms-full.txt of the MCP server of Enrow and the Enrow tools of Sim; read November 2026',
  baseUrl: 'https://api.enrow.io',
  auth: { kind: 'header', name: 'x-api-key' },
  limits: { perSecond: 5, concurrent: 20 },
  statuses: { 400: 'ineligible', 422: 'no_credits' },
  probe: { path: '/account/info' },
})
