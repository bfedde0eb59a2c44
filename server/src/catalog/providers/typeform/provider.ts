import { defineProvider } from '../../provider/provider.ts'

export const typeform = defineProvider({
  id: 'typeform',
  name: 'Typeform',
  evidence:
    'www.typeform.com/developers/responses; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://api.typeform.com',
  auth: { kind: 'bearer' },
  limits: { perSecond: 2 },
  statuses: { 400: 'ineligible', 404: 'ineligible' },
  probe: { path: '/me' },
  requiresOwnKey: true,
})
