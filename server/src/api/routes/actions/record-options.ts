import type { FastifyRequest } from 'fastify'
import { EntityKind } from '#contract/records.ts'
import type { Option } from '../../../catalog/fields/field.ts'
import { invalid } from '../../../lib/errors.ts'
import { listFieldTypes } from '../../../store/records/field-types.ts'
import { listSourceOrder } from '../../../store/records/sources.ts'
import { listTerms } from '../../../store/records/terms.ts'

type Request = Pick<FastifyRequest, 'caller' | 'db'>
type Resolver = (request: Request, context: Record<string, unknown>) => Promise<Option[]>

const toOption = (word: string): Option => ({ value: word, label: word })

/** Dropdowns whose words the organisation's record store knows, by the name that their definitions give in `from`. */
export const RECORD_OPTIONS: Readonly<Record<string, Resolver>> = {
  'record sources': listSources,
  'record events': listEventTypes,
  'record relationship types': async ({ caller, db }) =>
    (await listTerms(db, caller.orgId, 'relationship')).map(toOption),
  ...Object.fromEntries(
    EntityKind.options.map((kind): [string, Resolver] => [
      `record fields of a ${kind}`,
      async ({ caller, db }) => {
        const fields = await listFieldTypes(db, caller.orgId)
        return fields
          .filter((field) => field.kind === kind)
          .map(({ field, type }) => ({ ...toOption(field), extras: { type } }))
      },
    ]),
  ),
}

/** Those in the declared order first. */
async function listSources({ caller, db }: Request): Promise<Option[]> {
  const declared = await listSourceOrder(db, caller.orgId)
  const used = await listTerms(db, caller.orgId, 'source')
  return [...new Set([...declared, ...used])].map(toOption)
}

/** A company may be called by the word entity (D60). */
async function listEventTypes({ caller, db }: Request, context: Record<string, unknown>): Promise<Option[]> {
  const given = typeof context['lookup_type'] === 'string' ? context['lookup_type'].trim() : ''
  const kind = EntityKind.safeParse(given === 'entity' ? 'company' : given)
  if (!kind.success) {
    throw invalid('context.lookup_type', `must be one of: ${EntityKind.options.join(', ')}, entity`)
  }
  return (await listTerms(db, caller.orgId, 'event', kind.data)).map(toOption)
}
