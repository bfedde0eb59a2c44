import { defineProvider } from '../../provider/provider.ts'

/** The secret that `send_webhook` signs with if the action sets none. Receivers have their own addresses. */
export const webhook = defineProvider({
  id: 'webhook',
  name: 'Webhook',
  evidence: 'standardwebhooks.com; named as where it is documented, not checked as of November 2026',
  baseUrl: '',
  auth: { kind: 'bearer' },
  requiresOwnKey: true,
})
