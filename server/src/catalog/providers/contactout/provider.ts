import { defineProvider } from '../../provider/provider.ts'

export const contactout = defineProvider({
  id: 'contactout',
  name: 'ContactOut',
  evidence:
    'api.contactout.com; work_email_status is inferred; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.contactout.com',
  auth: { kind: 'header', name: 'token' },
  headers: { authorization: 'basic' },
  limits: { perMinute: 60, concurrent: 10 },
  // 403 means an exhausted plan; the status for a refused token is 401.
  statuses: { 403: 'no_credits', 404: 'miss' },
  probe: { path: '/v1/stats' },
})
