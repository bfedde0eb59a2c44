import { defineSource } from '../define.ts'
import { hubspotOptions } from '../systems/hubspot/options.ts'
import { importedRecords, records } from '../systems/hubspot/records.ts'

export default defineSource({
  slug: 'import_from_hubspot',
  name: 'Import from HubSpot',
  description: 'Records of one kind, all or those of a list; on a schedule, those that changed.',
  mode: 'either',
  shape: records,
  check: ({ filters = [], list_id }) =>
    list_id !== undefined && filters.length > 0
      ? [{ field: 'filters', message: 'cannot be combined with list_id; filter in the list itself' }]
      : [],
  pulls: [importedRecords],
  options: hubspotOptions,
})
