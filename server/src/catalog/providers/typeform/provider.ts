import { defineProvider } from '../../provider/provider.ts'

export const typeform = defineProvider({
  id: 'typeform',
  name: 'Typeform',
  baseUrl: 'https://api.typeform.com',
  auth: { kind: 'bearer' },
  limits: { perSecond: 2 },
  statuses: { 400: 'ineligible', 404: 'ineligible' },
  probe: { path: '/me' },
  requiresOwnKey: true,
})
