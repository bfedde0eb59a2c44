import { attioOptions, importedRecords, records } from '../attio/records.ts'
import { defineSource } from '../define.ts'

export default defineSource({
  slug: 'import_from_attio',
  name: 'Import from Attio',
  description: 'Records of one object.',
  mode: 'either',
  shape: records,
  pulls: [importedRecords],
  options: attioOptions,
})
