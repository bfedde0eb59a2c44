import { defineSource } from '../define.ts'
import { attioOptions, importedRecords, records } from '../systems/attio/records.ts'

export default defineSource({
  slug: 'import_from_attio',
  name: 'Import from Attio',
  description: 'Records of one object.',
  mode: 'either',
  shape: records,
  pulls: [importedRecords],
  options: attioOptions,
})
