import { defineProvider } from '../../provider/provider.ts'

export const notion = defineProvider({
  id: 'notion',
  name: 'Notion',
  evidence:
    'developers.notion.com/reference; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.notion.com',
  auth: { kind: 'bearer' },
  headers: { 'Notion-Version': '2022-06-28' },
  limits: { perSecond: 3 },
  statuses: { 400: 'ineligible', 404: 'ineligible', 409: 'rate_limited' },
  probe: { path: '/v1/users/me' },
  requiresOwnKey: true,
})
