import { mapReply } from '../../catalog/provider/options.ts'
import { refusal } from '../../catalog/provider/reply.ts'
import { snowflake } from '../../catalog/providers/snowflake/provider.ts'
import type { SourceOptions } from '../define.ts'
import { findColumn } from './page-query.ts'
import { Reply } from './rows.ts'

const MAX_LENGTH = 255
const quote = (name: string) => `"${name}"`

/** Names as a SHOW command lists them, in its column "name". */
function namesShownBy(print: (names: string[]) => string, ...needed: string[]): SourceOptions {
  return {
    provider: snowflake,
    needs: Object.fromEntries(needed.map((name) => [name, []])),
    async list(send, context) {
      const names = needed.map((name) => context[name] ?? '')
      if (names.some((name) => /["\0]/.test(name) || name.length > MAX_LENGTH)) {
        return {
          ok: false,
          refusal: refusal('ineligible', `${needed.join(' and ')} must be names without quotes`),
        }
      }
      const json = { statement: print(names.map(quote)), timeout: 30 }
      const reply = await send({ method: 'POST', path: '/api/v2/statements', json }, Reply)
      return mapReply(reply, ({ data = [], resultSetMetaData }) => {
        const at = findColumn(resultSetMetaData?.rowType ?? [], '"name"')
        return data.flatMap((row) => {
          const name = row[at] ?? null
          return name === null ? [] : [{ value: name, label: name }]
        })
      })
    },
  }
}

export const snowflakeOptions = {
  warehouse: namesShownBy(() => 'show warehouses'),
  role: namesShownBy(() => 'show roles'),
  database: namesShownBy(() => 'show databases'),
  schema: namesShownBy(([database = '']) => `show schemas in database ${database}`, 'database'),
  table: namesShownBy(
    ([database = '', schema = '']) => `show objects in schema ${database}.${schema}`,
    'database',
    'schema',
  ),
}
