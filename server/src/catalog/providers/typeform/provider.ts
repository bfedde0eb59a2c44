import { defineProvider } from '../../provider/provider.ts'

export const typeform = defineProvider({
  id: 'typeform',
  name: 'Typeform',
  evidence:
    'www.typeform.com/developers/responses; the host of the EU: Typeform/js-api-client; read 2026-11-20',
  baseUrl: 'https://api.typeform.com',
  // Accounts in the EU: https://api.eu.typeform.com.
  baseUrlField: 'base_url',
  auth: { kind: 'bearer' },
  limits: { perSecond: 2 },
  statuses: { 400: 'ineligible', 404: 'ineligible' },
  probe: { path: '/me' },
  requiresOwnKey: true,
})
