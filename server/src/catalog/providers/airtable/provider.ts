import { defineProvider } from '../../provider/provider.ts'

export const airtable = defineProvider({
  id: 'airtable',
  name: 'Airtable',
  evidence:
    'airtable.com/developers/web/api; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.airtable.com',
  auth: { kind: 'bearer' },
  limits: { perSecond: 5 },
  statuses: { 404: 'ineligible', 422: 'ineligible' },
  probe: { path: '/v0/meta/whoami' },
  requiresOwnKey: true,
})
