import { defineProvider } from '../../provider/provider.ts'
import { googleAuth, googleErrors } from './google.ts'

/** Lists spreadsheets, on the connection to Google Sheets. */
export const googleDrive = defineProvider({
  id: 'google_sheets',
  name: 'Google Drive',
  evidence:
    'developers.google.com/drive/api/reference/rest/v3; named as where it is documented, not checked as of November 2026',
  baseUrl: 'https://www.googleapis.com',
  auth: googleAuth,
  limits: { perMinute: 300, concurrent: 10 },
  ...googleErrors,
  requiresOwnKey: true,
})
