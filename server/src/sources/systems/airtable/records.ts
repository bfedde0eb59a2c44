import { z } from 'zod'
import type { Ask } from '../../../catalog/provider/adapter.ts'
import { refusal } from '../../../catalog/provider/reply.ts'
import { airtable } from '../../../catalog/providers/airtable/provider.ts'
import {
  isAirtableBase,
  listAirtableBases,
  listAirtableFields,
  listAirtableTables,
} from '../../../catalog/push/airtable.ts'
import { ownValue } from '../../../lib/json/object.ts'
import type { SourceOptions } from '../../define.ts'
import { definePull } from '../../pull.ts'
import { defineShape } from '../../shape.ts'

export const records = defineShape({
  body: {
    base: z
      .string()
      .trim()
      .refine(isAirtableBase, 'must be the id of a base, such as appXXXXXXXXXXXXXX')
      .describe('The id of the base'),
    table: z
      .string()
      .trim()
      .min(1)
      .max(255)
      .refine((name) => !/^\.{1,2}$/.test(name), 'must be the name or id of a table')
      .describe('The name or id of the table'),
    fields: z
      .array(z.string().min(1).max(255))
      .min(1)
      .max(200)
      .describe('Names of the fields of a row; default: all fields that a record has')
      .optional(),
  },
  row: z.record(z.string(), z.unknown()),
  fieldsOf: ({ fields }) => (fields === undefined ? null : [...new Set(['id', ...fields])]),
})

// https://airtable.com/developers/web/api/list-records
const Reply = z.object({
  records: z.array(z.object({ id: z.string(), fields: z.record(z.string(), z.unknown()) })),
  offset: z.string().optional(),
})
const State = z.object({ offset: z.string() })
const MAX_PAGE = 100

export const importedRecords = definePull(records, airtable, {
  price: 0,
  state: State,
  async pull({ body, state, limit, ask }) {
    const page = { ...body, pageSize: Math.min(MAX_PAGE, limit) }
    const reply = await readPage(ask, page, state?.offset)
    // An offset expires after some minutes. Records that are read again are only compared.
    const isExpired =
      'kind' in reply && 'message' in reply && reply.message.includes('ITERATOR_NOT_AVAILABLE')
    const read = isExpired && state !== null ? await readPage(ask, page, undefined) : reply
    if ('kind' in read) return read
    const { fields } = body
    return {
      records: read.records.map((one) => ({
        key: one.id,
        // Airtable does not send fields without a value.
        row: {
          id: one.id,
          ...(fields === undefined
            ? one.fields
            : Object.fromEntries(fields.map((name) => [name, ownValue(one.fields, name) ?? null]))),
        },
      })),
      next: read.offset === undefined ? null : { offset: read.offset },
    }
  },
})

type Wanted = { base: string; table: string; fields?: string[] | undefined; pageSize: number }

function readPage(ask: Ask, { base, table, fields, pageSize }: Wanted, offset: string | undefined) {
  const path = `/v0/${base}/${encodeURIComponent(table)}`
  return ask({ path, query: { pageSize, offset, 'fields[]': fields } }, Reply, (reply) => reply)
}

const MISNAMED = {
  ok: false as const,
  refusal: refusal('ineligible', 'base must be the id of a base, such as appXXXXXXXXXXXXXX'),
}

const bases: SourceOptions = { provider: airtable, list: (send) => listAirtableBases(send) }

const tables: SourceOptions = {
  provider: airtable,
  needs: { base: ['base_id'] },
  list: async (send, { base = '' }) => (isAirtableBase(base) ? listAirtableTables(send, base) : MISNAMED),
}

const fields: SourceOptions = {
  provider: airtable,
  needs: { base: ['base_id'], table: ['table_id'] },
  list: async (send, { base = '', table = '' }) =>
    isAirtableBase(base) ? listAirtableFields(send, base, table) : MISNAMED,
}

export const airtableOptions = { base: bases, table: tables, fields }
