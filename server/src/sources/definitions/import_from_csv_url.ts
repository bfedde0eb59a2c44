import { defineSource } from '../define.ts'
import { csvFile, csvRows } from '../systems/http/csv-file.ts'

export default defineSource({
  slug: 'import_from_csv_url',
  name: 'Import a CSV file by URL',
  description: 'Rows of a CSV file on the web; on a schedule, again whenever the file has changed.',
  mode: 'either',
  shape: csvRows,
  pulls: [csvFile],
})
