import { refusal } from '../../../catalog/provider/reply.ts'
import { snowflake } from '../../../catalog/providers/snowflake/provider.ts'
import { isSnowflakeName, listShown } from '../../../catalog/push/snowflake.ts'
import type { SourceOptions } from '../../define.ts'

const quote = (name: string) => `"${name}"`

/** Lists the names that a SHOW command returns in its column "name". */
function namesShownBy(print: (names: string[]) => string, ...needed: string[]): SourceOptions {
  return {
    provider: snowflake,
    needs: Object.fromEntries(needed.map((name) => [name, []])),
    async list(send, context) {
      const names = needed.map((name) => context[name] ?? '')
      if (names.some((name) => !isSnowflakeName(name))) {
        return {
          ok: false,
          refusal: refusal('ineligible', `${needed.join(' and ')} must be names without quotes`),
        }
      }
      return listShown(send, print(names.map(quote)))
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
