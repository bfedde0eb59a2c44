import type { OptionQuery } from '../catalog/provider/options.ts'
import { invalid } from '../lib/errors.ts'
import type { SourceOptions } from './define.ts'

/** Reuses an options query of an action. `field` is the source's name for the field that the choices depend on. */
export function fromQuery(query: OptionQuery | undefined, field = query?.parent?.field): SourceOptions {
  if (query === undefined) throw new Error('fromQuery was given no query')
  const { provider, parent } = query
  if (parent === undefined || field === undefined)
    return { provider, list: (send) => query.list(send, '', '') }
  return {
    provider,
    needs: { [field]: parent.field === field ? [] : [parent.field] },
    async list(send, context) {
      const value = context[field] ?? ''
      if (parent.fits(value)) return query.list(send, value, '')
      throw invalid(`context.${field}`, `"${value.slice(0, 100)}" is not a value that ${provider.name} knows`)
    },
  }
}
