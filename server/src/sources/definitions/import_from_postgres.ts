import { defineSource } from '../define.ts'
import { postgresOptions } from '../systems/postgres/options.ts'
import { importedRows, tableRows } from '../systems/postgres/rows.ts'
import { checkTableOrQuery } from '../table-or-query.ts'

export default defineSource({
  slug: 'import_from_postgres',
  name: 'Import from PostgreSQL',
  description: 'Rows of a table or a query; with a cursor column and a schedule, those that changed.',
  mode: 'either',
  shape: tableRows,
  check: checkTableOrQuery,
  pulls: [importedRows],
  options: postgresOptions,
})
