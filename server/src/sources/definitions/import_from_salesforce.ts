import { defineSource } from '../define.ts'
import { importedRecords, records, salesforceOptions } from '../systems/salesforce/records.ts'

export default defineSource({
  slug: 'import_from_salesforce',
  name: 'Import from Salesforce',
  description: 'Records of one object; on a schedule, those that changed.',
  mode: 'either',
  shape: records,
  pulls: [importedRecords],
  options: salesforceOptions,
})
