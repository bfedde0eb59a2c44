import { defineProvider } from '../../provider/provider.ts'

/** A mail server of the organisation, for `send_email`. It has no base URL because it is not called over HTTP. */
export const smtp = defineProvider({
  id: 'smtp',
  name: 'SMTP',
  evidence:
    'RFC 5321, spoken by nodemailer; named as where it is documented, not checked as of November 2026',
  baseUrl: '',
  auth: { kind: 'none' },
  fields: ['url', 'secret', 'from'],
  supportsOwnKey: true,
  requiresOwnKey: true,
})
