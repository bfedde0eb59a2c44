import { defineProvider } from '../../provider/provider.ts'

export const peopledatalabs = defineProvider({
  id: 'peopledatalabs',
  name: 'People Data Labs',
  evidence: 'the People Data Labs tools of Sim; read November 2026',
  baseUrl: 'https://api.peopledatalabs.com',
  auth: { kind: 'header', name: 'X-Api-Key' },
  limits: { perMinute: 100, concurrent: 10 },
  // A miss is free; 400 means a question with too few details.
  statuses: { 400: 'ineligible', 404: 'miss' },
  probe: { path: '/v5/autocomplete', query: { field: 'company', size: 1 } },
})
