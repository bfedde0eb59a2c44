import { z } from 'zod'
import { mapReply } from '../../../catalog/provider/options.ts'
import { postgres } from '../../../catalog/providers/postgres/provider.ts'
import type { SourceOptions } from '../../define.ts'

const Names = z.object({ rows: z.array(z.object({ name: z.string(), type: z.string().nullish() })) })
const MAX_NAMES = 1000

const SCHEMAS = `select nspname::text as name, null::text as type from pg_namespace
  where nspname not like 'pg\\_%' and nspname <> 'information_schema' and has_schema_privilege(oid, 'usage') order by 1`
const TABLES = `select table_name::text as name, table_type::text as type from information_schema.tables
  where table_schema = $1 order by 1`
const COLUMNS = `select column_name::text as name, data_type::text as type from information_schema.columns
  where table_schema = $1 and table_name = $2 order by ordinal_position`

function namesBy(text: string, ...needed: string[]): SourceOptions {
  return {
    provider: postgres,
    needs: Object.fromEntries(needed.map((name) => [name, []])),
    async list(send, context) {
      const values = needed.map((name) => context[name] ?? '')
      const reply = await send({ path: '/', json: { text, values, limit: MAX_NAMES } }, Names)
      return mapReply(reply, ({ rows }) =>
        rows.map(({ name, type }) => ({
          value: name,
          label: name,
          ...(type ? { extras: { type: type.toLowerCase() } } : {}),
        })),
      )
    },
  }
}

const columns = namesBy(COLUMNS, 'schema', 'table')

export const postgresOptions = {
  schema: namesBy(SCHEMAS),
  table: namesBy(TABLES, 'schema'),
  key_column: columns,
  cursor_column: columns,
}
