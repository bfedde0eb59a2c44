import { defineProvider } from '../../provider/provider.ts'

export const notion = defineProvider({
  id: 'notion',
  name: 'Notion',
  evidence: 'developers.notion.com/guides/get-started/upgrade-guide-2025-09-03; read 2026-11-20',
  baseUrl: 'https://api.notion.com',
  auth: { kind: 'bearer' },
  headers: { 'Notion-Version': '2025-09-03' },
  limits: { perSecond: 3 },
  statuses: { 400: 'ineligible', 404: 'ineligible', 409: 'rate_limited' },
  probe: { path: '/v1/users/me' },
  requiresOwnKey: true,
})
