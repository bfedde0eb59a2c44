import { z } from 'zod'
import type { Ask } from '../../catalog/provider/adapter.ts'
import { byLabel, mapReply } from '../../catalog/provider/options.ts'
import { refusal } from '../../catalog/provider/reply.ts'
import { airtable } from '../../catalog/providers/airtable/provider.ts'
import type { SourceOptions } from '../define.ts'
import { definePull } from '../pull.ts'
import { defineShape } from '../shape.ts'

const BASE = /^app\w{8,30}$/

export const records = defineShape({
  body: {
    base: z
      .string()
      .trim()
      .regex(BASE, 'must be the id of a base, as appXXXXXXXXXXXXXX')
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
      .describe('Names of the fields of a row; all that a record has when it is left out')
      .optional(),
  },
  row: z.record(z.string(), z.unknown()),
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
    // An offset lives for some minutes: what was read already is only compared.
    const isExpired =
      'kind' in reply && 'message' in reply && reply.message.includes('ITERATOR_NOT_AVAILABLE')
    const read = isExpired && state !== null ? await readPage(ask, page, undefined) : reply
    if ('kind' in read) return read
    const { fields } = body
    return {
      records: read.records.map((one) => ({
        key: one.id,
        // Fields without a value are not sent.
        row: {
          id: one.id,
          ...(fields === undefined
            ? one.fields
            : Object.fromEntries(fields.map((name) => [name, one.fields[name] ?? null]))),
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

const Bases = z.object({ bases: z.array(z.object({ id: z.string(), name: z.string() })) })
const Tables = z.object({
  tables: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      fields: z.array(z.object({ name: z.string(), type: z.string() })).default([]),
    }),
  ),
})

const bases: SourceOptions = {
  provider: airtable,
  async list(send) {
    return mapReply(await send({ path: '/v0/meta/bases' }, Bases), (reply) =>
      byLabel(reply.bases.map(({ id, name }) => ({ value: id, label: name }))),
    )
  },
}

type Send = Parameters<SourceOptions['list']>[0]

async function readTables(send: Send, base: string) {
  if (!BASE.test(base)) {
    return {
      ok: false as const,
      refusal: refusal('ineligible', 'base must be the id of a base, as appXXXXXXXXXXXXXX'),
    }
  }
  return send({ path: `/v0/meta/bases/${base}/tables` }, Tables)
}

const tables: SourceOptions = {
  provider: airtable,
  needs: { base: ['base_id'] },
  async list(send, { base = '' }) {
    return mapReply(await readTables(send, base), (reply) =>
      byLabel(reply.tables.map(({ id, name }) => ({ value: id, label: name }))),
    )
  },
}

const fields: SourceOptions = {
  provider: airtable,
  needs: { base: ['base_id'], table: ['table_id'] },
  async list(send, { base = '', table = '' }) {
    return mapReply(await readTables(send, base), (reply) =>
      reply.tables
        .filter(({ id, name }) => id === table || name === table)
        .flatMap((one) =>
          one.fields.map(({ name, type }) => ({ value: name, label: name, extras: { type } })),
        ),
    )
  },
}

export const airtableOptions = { base: bases, table: tables, fields }
