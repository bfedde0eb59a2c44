import { defineSource } from '../define.ts'
import { snowflakeOptions } from '../systems/snowflake/options.ts'
import { importedRows, tableRows } from '../systems/snowflake/rows.ts'
import { checkTableOrQuery } from '../table-or-query.ts'

export default defineSource({
  slug: 'import_from_snowflake',
  name: 'Import from Snowflake',
  description: 'Rows of a table or a query; with a cursor column and a schedule, those that changed.',
  mode: 'either',
  shape: tableRows,
  check: ({ query, table }) => checkTableOrQuery({ query, table }),
  pulls: [importedRows],
  options: snowflakeOptions,
})
