import { defineProvider } from '../../provider/provider.ts'

export const googleSheets = defineProvider({
  id: 'google_sheets',
  name: 'Google Sheets',
  baseUrl: 'https://sheets.googleapis.com',
  auth: { kind: 'oauth', grant: 'refresh_token', tokenUrl: 'https://oauth2.googleapis.com/token' },
  limits: { perMinute: 300, concurrent: 10 },
  requiresOwnKey: true,
})
