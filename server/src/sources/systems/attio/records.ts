import { z } from 'zod'
import { refusal } from '../../../catalog/provider/reply.ts'
import { attio } from '../../../catalog/providers/attio/provider.ts'
import { isAttioSlug, listAttioAttributes, listAttioObjects } from '../../../catalog/push/attio.ts'
import { isObject, ownValue } from '../../../lib/json/object.ts'
import type { SourceOptions } from '../../define.ts'
import { type Filter, filtersOf } from '../../filters.ts'
import { definePull } from '../../pull.ts'
import { defineShape } from '../../shape.ts'

const Slug = z.string().refine(isAttioSlug, 'must be the slug of an attribute, such as email_addresses')

export const records = defineShape({
  body: {
    object: z
      .string()
      .trim()
      .refine(isAttioSlug, 'must be the slug of an object, such as companies')
      .describe('The kind of records, by its slug: people, companies, deals or your own'),
    fields: z
      .array(Slug)
      .min(1)
      .max(200)
      .describe('Slugs of the attributes of a row; default: all attributes that a record has')
      .optional(),
    filters: filtersOf(Slug, 20),
  },
  row: z.record(z.string(), z.unknown()),
  fieldsOf: ({ fields }) => (fields === undefined ? null : [...new Set(['id', 'web_url', ...fields])]),
})

// https://docs.attio.com/rest-api/endpoint-reference/records/list-records
const Reply = z.object({
  data: z.array(
    z.object({
      id: z.object({ record_id: z.string() }),
      created_at: z.string().optional(),
      web_url: z.string().optional(),
      values: z.record(z.string(), z.array(z.unknown())),
    }),
  ),
})
const State = z.object({ offset: z.int().nonnegative() })
const MAX_PAGE = 500

export const importedRecords = definePull(records, attio, {
  price: 0,
  state: State,
  pull({ body: { object, fields, filters = [] }, state, limit, ask }) {
    const size = Math.min(MAX_PAGE, limit)
    const offset = state?.offset ?? 0
    const json = {
      ...(filters.length === 0 ? {} : { filter: { $and: filters.map(printFilter) } }),
      // New records come last, so they never shift an offset that was already read.
      sorts: [{ direction: 'asc', attribute: 'created_at' }],
      limit: size,
      offset,
    }
    const request = { method: 'POST', path: `/v2/objects/${object}/records/query`, json } as const
    return ask(request, Reply, ({ data }) => ({
      records: data.map(({ id: { record_id }, web_url, values }) => ({
        key: record_id,
        row: {
          id: record_id,
          web_url: web_url ?? null,
          ...Object.fromEntries(
            (fields ?? Object.keys(values)).map((name) => [name, readValue(ownValue(values, name) ?? [])]),
          ),
        },
      })),
      next: data.length < size ? null : { offset: offset + data.length },
    }))
  },
})

/** The property that holds a value, by attribute type: https://docs.attio.com/docs/attribute-types */
const VALUE_PROPERTY: Readonly<Record<string, string>> = {
  'email-address': 'email_address',
  domain: 'domain',
  'phone-number': 'phone_number',
  'personal-name': 'full_name',
  currency: 'currency_value',
  'record-reference': 'target_record_id',
  'actor-reference': 'referenced_actor_id',
  interaction: 'interacted_at',
}
/** The metadata of every value. It is removed from values that are stored whole. */
const METADATA = new Set(['active_from', 'active_until', 'created_by_actor', 'attribute_type'])

/** Reads the values of an attribute: one as itself, several as a list, none as null. */
function readValue(values: readonly unknown[]): unknown {
  const read = values.map((value) => (isObject(value) ? readOne(value) : value))
  return read.length > 1 ? read : (read[0] ?? null)
}

function readOne(value: Record<string, unknown>): unknown {
  const type = String(value['attribute_type'])
  const named = isObject(value['option']) ? value['option'] : value['status']
  if (isObject(named) && 'title' in named) return named['title']
  const main = value[VALUE_PROPERTY[type] ?? 'value']
  if (main !== undefined) return main
  return Object.fromEntries(Object.entries(value).filter(([name]) => !METADATA.has(name)))
}

/** Prints a filter. See https://docs.attio.com/rest-api/guides/filtering-and-sorting */
function printFilter({ field, operator, values }: Filter): Record<string, unknown> {
  const [value] = values
  switch (operator) {
    case 'is equal to':
      return { [field]: { $eq: value } }
    case 'not equal to':
      return { $not: { [field]: { $eq: value } } }
    case 'is any of':
      return { [field]: { $in: values } }
    case 'contains':
      return { [field]: { $contains: value } }
    case 'greater than':
      return { [field]: { $gt: value } }
    case 'greater than or equal to':
      return { [field]: { $gte: value } }
    case 'less than':
      return { [field]: { $lt: value } }
    case 'less than or equal to':
      return { [field]: { $lte: value } }
    case 'is empty':
      return { $not: { [field]: { $not_empty: true } } }
    case 'not empty':
      return { [field]: { $not_empty: true } }
  }
}

const objects: SourceOptions = { provider: attio, list: (send) => listAttioObjects(send) }

const fields: SourceOptions = {
  provider: attio,
  needs: { object: ['object_type'] },
  async list(send, { object = '' }) {
    if (!isAttioSlug(object)) {
      return {
        ok: false,
        refusal: refusal('ineligible', 'object must be the slug of an object, such as companies'),
      }
    }
    return listAttioAttributes(send, object)
  },
}

export const attioOptions = { object: objects, fields, properties: fields }
