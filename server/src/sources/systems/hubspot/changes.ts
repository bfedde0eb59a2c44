import { z } from 'zod'
import { OWN_ID, pathOfObject } from '../../../catalog/crm/hubspot.ts'
import type { Ask } from '../../../catalog/provider/adapter.ts'
import type { Refusal } from '../../../catalog/provider/reply.ts'
import type { Filter, FilterOperator } from '../../filters.ts'
import type { Page } from '../../pull.ts'
import { Found, toRecord, type Wanted } from './found.ts'

/**
 * The maximum number of results of a search, which can sort by one property only:
 * https://developers.hubspot.com/docs/api/crm/search
 */
const MAX_RESULTS = 10_000
const MAX_PAGE = 200
/** The overlap between pulls: a changed record appears in searches some time later. */
const LATE_MS = 5 * 60_000

const Place = { cursor: z.string().nullable(), taken: z.int().nonnegative() }

/**
 * The position. Records are read in the order of their changes. A window may end among records with the same timestamp
 * (a bulk import may create 50,000 of them); then the records of that timestamp are read in id order, and after them
 * the later ones.
 */
export const SearchState = z.discriminatedUnion('walk', [
  z.object({ walk: z.literal('changes'), since: z.int(), isAfter: z.boolean(), ...Place }),
  z.object({ walk: z.literal('moment'), at: z.int(), id: z.string(), ...Place }),
])
export type SearchState = z.infer<typeof SearchState>

/** Returns the position to read everything that changed at or after a moment. */
export const startAt = (since: number): SearchState => ({
  walk: 'changes',
  since,
  isAfter: false,
  cursor: null,
  taken: 0,
})

/** Returns the position, moved forward to a moment if it is earlier. */
const notEarlier = (place: SearchState, moment: number): SearchState =>
  place.walk === 'changes' && place.since < moment ? { ...place, since: moment } : place

const Reply = z.object({
  total: z.number().optional(),
  results: z.array(Found),
  paging: z.object({ next: z.object({ after: z.string() }).optional() }).optional(),
})

export async function readChanges(
  ask: Ask,
  wanted: Wanted,
  { state, limit, notBefore }: { state: SearchState | null; limit: number; notBefore: number },
): Promise<Page<SearchState, Record<string, unknown>> | Refusal> {
  const here = notEarlier(state ?? startAt(0), notBefore)
  const changed = wanted.object_type.toLowerCase() === 'contacts' ? 'lastmodifieddate' : 'hs_lastmodifieddate'
  const json = {
    filterGroups: [{ filters: [...placeFilters(here, changed), ...(wanted.filters ?? []).map(printFilter)] }],
    sorts: [{ propertyName: here.walk === 'changes' ? changed : OWN_ID, direction: 'ASCENDING' }],
    properties: [...new Set([...wanted.properties, changed])],
    limit: Math.min(MAX_PAGE, limit, MAX_RESULTS - here.taken),
    ...(here.cursor === null ? {} : { after: here.cursor }),
  }
  const path = pathOfObject(wanted.object_type, 'search')
  return ask({ method: 'POST', path, json }, Reply, ({ results, paging, total }) => {
    const last = results.at(-1)
    const newest = last === undefined ? timeOf(here) : changeOf(last, changed)
    // Without new records the next pull starts at the same time. Going back further on each empty pull would never end.
    const from = last === undefined ? newest : newest - LATE_MS
    const taken = here.taken + results.length
    const cursor = paging?.next?.after ?? null
    return {
      records: results.map((one) => toRecord(one, wanted)),
      next: nextOf(here, { cursor, taken, newest, lastId: last?.id }),
      resume: startAt(Math.max(notBefore, from)),
      ...(state === null && total !== undefined ? { total } : {}),
    }
  })
}

type Read = { cursor: string | null; taken: number; newest: number; lastId: string | undefined }

function nextOf(here: SearchState, { cursor, taken, newest, lastId }: Read): SearchState | null {
  const start = { cursor: null, taken: 0 }
  if (cursor === null) {
    return here.walk === 'changes' ? null : { walk: 'changes', since: here.at, isAfter: true, ...start }
  }
  if (taken < MAX_RESULTS) return { ...here, cursor, taken }
  if (here.walk === 'changes') return { walk: 'moment', at: newest, id: '0', ...start }
  return { ...here, id: lastId ?? here.id, ...start }
}

const timeOf = (here: SearchState) => (here.walk === 'changes' ? here.since : here.at)

function changeOf({ properties, updatedAt }: Found, changed: string): number {
  const text = properties[changed]
  const time = Date.parse(typeof text === 'string' ? text : (updatedAt ?? ''))
  return Number.isNaN(time) ? 0 : time
}

type Printed = { propertyName: string; operator: string; value?: string; values?: string[] }

function placeFilters(here: SearchState, changed: string): Printed[] {
  const time = String(timeOf(here))
  if (here.walk === 'changes') {
    return [{ propertyName: changed, operator: here.isAfter ? 'GT' : 'GTE', value: time }]
  }
  return [
    { propertyName: changed, operator: 'EQ', value: time },
    { propertyName: OWN_ID, operator: 'GT', value: here.id },
  ]
}

const OPERATORS: Readonly<Record<FilterOperator, string>> = {
  'is equal to': 'EQ',
  'not equal to': 'NEQ',
  'is any of': 'IN',
  contains: 'CONTAINS_TOKEN',
  'greater than': 'GT',
  'greater than or equal to': 'GTE',
  'less than': 'LT',
  'less than or equal to': 'LTE',
  'is empty': 'NOT_HAS_PROPERTY',
  'not empty': 'HAS_PROPERTY',
}

function printFilter({ field, operator, values }: Filter): Printed {
  const name = { propertyName: field, operator: OPERATORS[operator] }
  const [value] = values
  if (operator === 'is any of') return { ...name, values: values.map(String) }
  if (value === undefined) return name
  return { ...name, value: operator === 'contains' ? `*${String(value)}*` : String(value) }
}
