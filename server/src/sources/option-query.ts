import type { OptionQuery } from '../catalog/provider/options.ts'
import { refusal } from '../catalog/provider/reply.ts'
import type { SourceOptions } from './define.ts'

/** Options that an action asks for too; `needs` is the field of the source that the words depend on. */
export function fromQuery(query: OptionQuery | undefined, needs?: string): SourceOptions {
  if (query === undefined) throw new Error('there is no such query')
  const { provider, parent } = query
  return {
    provider,
    ...(needs === undefined ? {} : { needs: { [needs]: parent === undefined ? [] : [parent.field] } }),
    async list(send, context) {
      const value = context[needs ?? ''] ?? ''
      if (parent !== undefined && !parent.fits(value)) {
        const words = `"${value.slice(0, 100)}" is not one that ${provider.name} can have`
        return { ok: false, refusal: refusal('ineligible', words) }
      }
      return query.list(send, value)
    },
  }
}
