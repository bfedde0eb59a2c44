import { z } from 'zod'
import { isObjectType, OWN_ID, pathOfObject } from '../../../catalog/crm/hubspot.ts'
import type { Ask } from '../../../catalog/provider/adapter.ts'
import { hubspot } from '../../../catalog/providers/hubspot/provider.ts'
import { filtersOf } from '../../filters.ts'
import { definePull } from '../../pull.ts'
import { defineShape } from '../../shape.ts'
import { readChanges, SearchState, startAt } from './changes.ts'
import { Found, toRecord, type Wanted } from './found.ts'

const Property = z
  .string()
  .regex(/^[A-Za-z]\w{0,199}$/, 'must be the internal name of a property, such as email')

export const records = defineShape({
  body: {
    object_type: z
      .string()
      .trim()
      .refine(isObjectType, 'must be an object type, such as contacts or the id of a custom object')
      .describe('The kind of records: contacts, companies, deals, or the id of a custom object'),
    properties: z.array(Property).min(1).max(250).describe('Internal names of the properties of a row'),
    // A search accepts 6 filters in a group; the walk over the records needs 2 of them.
    filters: filtersOf(Property, 4),
    list_id: z
      .union([z.string(), z.int()], 'must be the id of a list')
      .transform(String)
      .refine((id) => /^\d{1,18}$/.test(id), 'must be the id of a list, as listed by hubspot_lists')
      .describe('Only the members of this list')
      .optional(),
  },
  row: z.record(z.string(), z.unknown()),
  fieldsOf: ({ properties }) => [...new Set(['id', ...properties])],
})

/**
 * The members of a list. Their ids are read first, then the records:
 * https://developers.hubspot.com/docs/api-reference/crm-lists-v3
 */
const Members = z.object({
  results: z.array(z.object({ recordId: z.union([z.string(), z.number()]).transform(String) })),
  total: z.number().optional(),
  paging: z.object({ next: z.object({ after: z.string() }).optional() }).optional(),
})
const ListState = z.object({ walk: z.literal('list'), after: z.string() })
/** The maximum number of records in one batch request. */
const MAX_BATCH = 100

const State = z.discriminatedUnion('walk', [...SearchState.options, ListState])

export const importedRecords = definePull(records, hubspot, {
  price: 0,
  state: State,
  // A list does not report when a record was added.
  skipExisting: (at, { list_id }) => (list_id === undefined ? startAt(at.getTime()) : null),
  pull({ body, state, limit, notBefore, ask }) {
    const { list_id, ...wanted } = body
    if (list_id !== undefined) {
      const after = state?.walk === 'list' ? state.after : undefined
      return readMembers(ask, wanted, { list_id, after, limit: Math.min(MAX_BATCH, limit) })
    }
    const here = state?.walk === 'list' ? null : state
    return readChanges(ask, wanted, { state: here, limit, notBefore: notBefore?.getTime() ?? 0 })
  },
})

async function readMembers(
  ask: Ask,
  wanted: Wanted,
  { list_id, after, limit }: { list_id: string; after: string | undefined; limit: number },
) {
  const path = `/crm/v3/lists/${list_id}/memberships`
  const members = await ask({ path, query: { limit, after } }, Members, (body) => body)
  if ('kind' in members) return members
  const next = members.paging?.next
  const page = {
    next: next === undefined ? null : { walk: 'list' as const, after: next.after },
    ...(members.total === undefined ? {} : { total: members.total }),
  }
  if (members.results.length === 0) return { ...page, records: [] }
  const json = {
    properties: wanted.properties.filter((name) => name !== OWN_ID),
    inputs: members.results.map(({ recordId }) => ({ id: recordId })),
  }
  // The status is 207 if some records have been deleted since; those are left out.
  return ask(
    { method: 'POST', path: pathOfObject(wanted.object_type, 'batch', 'read'), json },
    z.object({ results: z.array(Found) }),
    ({ results }) => ({ ...page, records: results.map((one) => toRecord(one, wanted)) }),
  )
}
