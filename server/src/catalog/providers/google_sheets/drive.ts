import { defineProvider } from '../../provider/provider.ts'
import { googleAuth, googleErrors } from './google.ts'

/** Tells which spreadsheets there are, on the connection to Google Sheets. */
export const googleDrive = defineProvider({
  id: 'google_sheets',
  name: 'Google Drive',
  baseUrl: 'https://www.googleapis.com',
  auth: googleAuth,
  limits: { perMinute: 300, concurrent: 10 },
  ...googleErrors,
  requiresOwnKey: true,
})
