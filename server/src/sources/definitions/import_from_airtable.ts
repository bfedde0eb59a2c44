import { defineSource } from '../define.ts'
import { airtableOptions, importedRecords, records } from '../systems/airtable/records.ts'

export default defineSource({
  slug: 'import_from_airtable',
  name: 'Import from Airtable',
  description: 'Records of a table.',
  mode: 'either',
  shape: records,
  pulls: [importedRecords],
  options: airtableOptions,
})
