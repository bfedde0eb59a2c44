import { defineSource } from '../define.ts'
import { importedObjects, objectRows } from '../systems/s3/objects.ts'

export default defineSource({
  slug: 'import_from_s3',
  name: 'Import from S3',
  description:
    'Rows of the CSV and JSON lines files in a folder of a bucket; on a schedule, those of new or changed files.',
  mode: 'either',
  shape: objectRows,
  pulls: [importedObjects],
})
