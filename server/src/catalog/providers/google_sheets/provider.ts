import { defineProvider } from '../../provider/provider.ts'
import { googleAuth, googleErrors } from './google.ts'

export const googleSheets = defineProvider({
  id: 'google_sheets',
  name: 'Google Sheets',
  evidence:
    'developers.google.com/sheets/api/reference/rest; an earlier review held it against public clients, November 2026',
  baseUrl: 'https://sheets.googleapis.com',
  auth: googleAuth,
  limits: { perMinute: 300, concurrent: 10 },
  ...googleErrors,
  requiresOwnKey: true,
})
