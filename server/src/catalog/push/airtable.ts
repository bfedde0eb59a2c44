import { z } from 'zod'
import type { Option } from '../fields/field.ts'
import { byLabel, mapReply, type OptionQuery, type SendRequest } from '../provider/options.ts'
import type { ProviderReply } from '../provider/reply.ts'
import { airtable } from '../providers/airtable/provider.ts'

export const isAirtableBase = (text: string): boolean => /^app\w{8,30}$/.test(text)

// airtable.com/developers/web/api/list-bases and get-base-schema (2026-11).
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

const toOptions = (items: readonly { id: string; name: string }[]): Option[] =>
  byLabel(items.map(({ id, name }) => ({ value: id, label: name })))

export async function listAirtableBases(send: SendRequest): Promise<ProviderReply<Option[]>> {
  return mapReply(await send({ path: '/v0/meta/bases' }, Bases), ({ bases }) => toOptions(bases))
}

export async function listAirtableTables(send: SendRequest, base: string): Promise<ProviderReply<Option[]>> {
  return mapReply(await readTables(send, base), ({ tables }) => toOptions(tables))
}

export async function listAirtableFields(
  send: SendRequest,
  base: string,
  table: string,
): Promise<ProviderReply<Option[]>> {
  return mapReply(await readTables(send, base), ({ tables }) =>
    tables
      .filter(({ id, name }) => id === table || name === table)
      .flatMap(({ fields }) =>
        fields.map(({ name, type }) => ({ value: name, label: name, extras: { type } })),
      ),
  )
}

const readTables = (send: SendRequest, base: string) =>
  send({ path: `/v0/meta/bases/${base}/tables` }, Tables)

const base = { field: 'base', fits: isAirtableBase }

export const AIRTABLE_OPTIONS: Readonly<Record<string, OptionQuery>> = {
  'Airtable bases': { provider: airtable, list: listAirtableBases },
  'Airtable tables': { provider: airtable, parent: base, list: listAirtableTables },
  'Airtable fields': {
    provider: airtable,
    parent: { field: 'table', fits: (table) => table !== '' },
    within: base,
    list: (send, table, within) => listAirtableFields(send, within, table),
  },
}
