import { defineSource } from '../define.ts'
import { importedRecords, pipedriveOptions, records } from '../systems/pipedrive/records.ts'

export default defineSource({
  slug: 'import_from_pipedrive',
  name: 'Import from Pipedrive',
  description: 'Records of one kind; on a schedule, those that changed.',
  mode: 'either',
  shape: records,
  pulls: [importedRecords],
  options: pipedriveOptions,
})
