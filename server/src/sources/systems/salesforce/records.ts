import { z } from 'zod'
import { SALESFORCE_OPTIONS } from '../../../catalog/crm/salesforce-options.ts'
import { SALESFORCE_API } from '../../../catalog/crm/salesforce.ts'
import { isFieldPath, isName, requote } from '../../../catalog/crm/soql.ts'
import type { Ask } from '../../../catalog/provider/adapter.ts'
import { salesforce } from '../../../catalog/providers/salesforce/provider.ts'
import { isObject } from '../../../lib/json/object.ts'
import { filtersOf } from '../../filters.ts'
import { fromQuery } from '../../option-query.ts'
import { definePull } from '../../pull.ts'
import { defineShape } from '../../shape.ts'
import { type Place, printImport, toFilterConditions } from './import-query.ts'

const Field = z
  .string()
  .max(200)
  .refine(isFieldPath, 'must be the API name of a field, such as Email or Account.Name')

export const records = defineShape({
  body: {
    object: z
      .string()
      .trim()
      .max(100)
      .refine(isName, 'must be the API name of an object, such as Account')
      .describe('The kind of records, by its API name'),
    fields: z
      .array(Field)
      .min(1)
      .max(200)
      .describe('API names of the fields of a row, such as Email or Account.Name'),
    filters: filtersOf(Field, 20),
  },
  row: z.record(z.string(), z.unknown()),
  fieldsOf: ({ fields }) => [...new Set(['id', ...fields])],
})

type Body = {
  object: string
  fields: string[]
  filters?: Parameters<typeof toFilterConditions>[0] | undefined
}

// https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/resources_query.htm
const Reply = z.object({
  totalSize: z.number().optional(),
  done: z.boolean(),
  nextRecordsUrl: z.string().startsWith('/services/data/').optional(),
  records: z.array(z.looseObject({ Id: z.string(), SystemModstamp: z.string().optional() })),
})

/** The position. `cursor` expires after some minutes; then `after` says where its next page starts. */
const State = z.object({
  after: z.object({ at: z.iso.datetime(), id: z.string().nullable() }).nullable(),
  cursor: z.string().nullable(),
})
type State = z.infer<typeof State>

/** The overlap between pulls: the changes of a transaction may appear this late. */
const LATE_MS = 5 * 60_000

export const importedRecords = definePull(records, salesforce, {
  price: 0,
  state: State,
  skipExisting: (at) => ({ after: { at: at.toISOString(), id: null }, cursor: null }),
  async pull({ body, state: stored, notBefore, ask }) {
    const state = notEarlier(stored, notBefore)
    const reply = await readReply(ask, body, state)
    if ('kind' in reply) return reply
    const last = reply.records.at(-1)
    const time = Date.parse(last?.SystemModstamp ?? '')
    const after =
      last === undefined || Number.isNaN(time)
        ? (state?.after ?? null)
        : { at: new Date(time).toISOString(), id: last.Id }
    const { nextRecordsUrl } = reply
    return {
      records: reply.records.map((one) => ({
        key: one.Id,
        row: { id: one.Id, ...Object.fromEntries(body.fields.map((name) => [name, valueAt(one, name)])) },
      })),
      next: reply.done || nextRecordsUrl === undefined ? null : { after, cursor: nextRecordsUrl },
      // Without new records the next pull starts at the same time. Going back further on each empty pull would never
      // end.
      resume: last === undefined ? { after, cursor: null } : notEarlier(overlapping(after), notBefore),
      ...(state === null && reply.totalSize !== undefined ? { total: reply.totalSize } : {}),
    }
  },
})

const overlapping = (after: Place | null): State => {
  const at = after && new Date(Date.parse(after.at) - LATE_MS).toISOString()
  return { after: at === null ? null : { at, id: null }, cursor: null }
}

/** Returns the position, moved forward to a moment if it is earlier. */
function notEarlier<Known extends State | null>(state: Known, moment: Date | null): Known | State {
  if (
    moment === null ||
    state === null ||
    state.after === null ||
    Date.parse(state.after.at) >= moment.getTime()
  )
    return state
  return { ...state, after: { at: moment.toISOString(), id: null } }
}

/** 500 records per page instead of the usual 2,000, so that records with many long texts still fit into a response. */
const HEADERS = { 'Sforce-Query-Options': 'batchSize=500' }

async function readReply(ask: Ask, body: Body, state: State | null) {
  if (state !== null && state.cursor !== null) {
    const reply = await ask({ path: state.cursor, headers: HEADERS }, Reply, (read) => read)
    const isExpired =
      'kind' in reply && reply.kind === 'ineligible' && reply.message.includes('INVALID_QUERY_LOCATOR')
    if (!isExpired) return reply
  }
  return query(ask, body, state?.after ?? null)
}

async function query(ask: Ask, { object, fields, filters = [] }: Body, after: Place | null) {
  let conditions = toFilterConditions(filters)
  for (let tries = 0; ; tries += 1) {
    const q = printImport({ object, fields, conditions, after })
    const path = `${SALESFORCE_API}/query`
    const reply = await ask({ path, query: { q }, headers: HEADERS }, Reply, (read) => read)
    if (!('kind' in reply) || reply.kind !== 'ineligible' || tries > filters.length) return reply
    // Only Salesforce knows which of its fields are texts, dates or numbers.
    const quoted = requote(conditions, reply.message)
    if (quoted === null) return reply
    conditions = quoted
  }
}

/** Returns the value at a path. `Account.Name` is a field of a nested record. */
function valueAt(record: Record<string, unknown>, path: string): unknown {
  return path.split('.').reduce<unknown>((at, name) => {
    if (!isObject(at)) return null
    const found = Object.keys(at).find((key) => key.toLowerCase() === name.toLowerCase())
    return found === undefined ? null : at[found]
  }, record)
}

const fields = fromQuery(SALESFORCE_OPTIONS['Salesforce fields'], 'object')
const objects = fromQuery(SALESFORCE_OPTIONS['Salesforce objects'])

export const salesforceOptions = {
  object: objects,
  salesforce_objects: objects,
  fields,
  salesforce_properties: fields,
}
