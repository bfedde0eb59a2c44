import type { OptionQuery } from '../catalog/provider/options.ts'
import { invalid } from '../lib/errors.ts'
import type { SourceOptions } from './define.ts'

/** Options that an action asks for too. `field` is what the source calls the field that the words depend on. */
export function fromQuery(query: OptionQuery | undefined, field = query?.parent?.field): SourceOptions {
  if (query === undefined) throw new Error('there is no such query')
  const { provider, parent } = query
  if (parent === undefined || field === undefined)
    return { provider, list: (send) => query.list(send, '', '') }
  return {
    provider,
    needs: { [field]: parent.field === field ? [] : [parent.field] },
    async list(send, context) {
      const value = context[field] ?? ''
      if (parent.fits(value)) return query.list(send, value, '')
      throw invalid(`context.${field}`, `"${value.slice(0, 100)}" is not one that ${provider.name} can have`)
    },
  }
}
