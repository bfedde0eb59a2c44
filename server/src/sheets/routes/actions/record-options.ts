import type { FastifyRequest } from 'fastify'
import { EntityKind, RecordSource, type ValueType } from '#contract/records.ts'
import type { Option } from '../../../catalog/fields/field.ts'
import { invalid } from '../../../lib/errors.ts'
import { listConnectionsOfSheet } from '../../../organisation/store/connections.ts'
import { listFieldTypes } from '../../../records/store/field-types.ts'
import { listSourceOrder } from '../../../records/store/sources.ts'
import { listTerms } from '../../../records/store/terms.ts'

type Request = Pick<FastifyRequest, 'caller' | 'db' | 'sheet'>
type Resolver = (request: Request, context: Record<string, unknown>) => Promise<Option[]>

/** The options of a new record store (D98). */
const USUAL_SOURCES = ['loam', 'csv', 'crm']
const USUAL_RELATIONSHIPS = [
  'works_at',
  'reports_to',
  'founded',
  'subsidiary_of',
  'partner_of',
  'customer_of',
]
const STANDARD_FIELDS: Record<EntityKind, Record<string, ValueType>> = {
  company: {
    name: 'text',
    domain: 'text',
    linkedin_url: 'text',
    industry: 'text',
    employees: 'number',
    country: 'text',
    city: 'text',
    phone: 'text',
    description: 'text',
  },
  person: {
    full_name: 'text',
    first_name: 'text',
    last_name: 'text',
    email: 'text',
    linkedin_url: 'text',
    title: 'text',
    country: 'text',
  },
  contact: { email: 'text', phone: 'text', company_domain: 'text', title: 'text' },
}

const toOption = (word: string): Option => ({ value: word, label: word })

/** The dropdowns whose options the organisation's record store lists, by the name that their definitions give in `from`. */
export const RECORD_OPTIONS: Readonly<Record<string, Resolver>> = {
  'record sources': listSources,
  'record events': listEventTypes,
  'record relationship types': async ({ caller, db }) =>
    distinct(USUAL_RELATIONSHIPS, await listTerms(db, caller.orgId, 'relationship')),
  ...Object.fromEntries(
    EntityKind.options.map((kind): [string, Resolver] => [
      `record fields of a ${kind}`,
      async ({ caller, db }) => {
        const used = (await listFieldTypes(db, caller.orgId)).filter((field) => field.kind === kind)
        const types = new Map<string, string>([
          ...Object.entries(STANDARD_FIELDS[kind]),
          ...used.map(({ field, type }) => [field, type] as const),
        ])
        return [...types].map(([field, type]) => ({ ...toOption(field), extras: { type } }))
      },
    ]),
  ),
}

const distinct = (...words: string[][]): Option[] => [...new Set(words.flat())].map(toOption)

/** Lists the usual sources and systems with a connection, then those of the declared order, then others in use. */
async function listSources({ caller, db, sheet }: Request): Promise<Option[]> {
  const connections = await listConnectionsOfSheet(db, sheet)
  const connected = connections.flatMap(({ provider }) => RecordSource.safeParse(provider).data ?? [])
  const declared = await listSourceOrder(db, caller.orgId)
  const used = await listTerms(db, caller.orgId, 'source')
  return distinct(USUAL_SOURCES, connected.toSorted(), declared, used)
}

/** Lists types of events. A company may be called `entity` (D60). */
async function listEventTypes({ caller, db }: Request, context: Record<string, unknown>): Promise<Option[]> {
  const given = typeof context['lookup_type'] === 'string' ? context['lookup_type'].trim() : ''
  const kind = EntityKind.safeParse(given === 'entity' ? 'company' : given)
  if (!kind.success) {
    throw invalid('context.lookup_type', `must be one of: ${EntityKind.options.join(', ')}, entity`)
  }
  return (await listTerms(db, caller.orgId, 'event', kind.data)).map(toOption)
}
