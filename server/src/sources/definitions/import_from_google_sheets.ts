import { defineSource } from '../define.ts'
import { googleSheetsOptions, importedRows, rows } from '../systems/google-sheets/rows.ts'

export default defineSource({
  slug: 'import_from_google_sheets',
  name: 'Import from Google Sheets',
  description: 'Rows of a sheet, by the names of its columns.',
  mode: 'either',
  shape: rows,
  pulls: [importedRows],
  options: googleSheetsOptions,
})
