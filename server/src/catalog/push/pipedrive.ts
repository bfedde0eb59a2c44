import { z } from 'zod'
import type { Option } from '../fields/field.ts'
import { byLabel, mapReply, type OptionQuery, type SendRequest } from '../provider/options.ts'
import type { ProviderReply } from '../provider/reply.ts'
import { pipedrive } from '../providers/pipedrive/provider.ts'

type Kind = {
  /** The name of the list of its fields. */
  fields: string
  /** The path of its page, relative to the address of the account. */
  page: string
  /** Fields that the search accepts by name. Custom fields are searched all together. */
  searchable: readonly string[]
}

/**
 * The kinds of records that can be searched: developers.pipedrive.com/docs/api/v1/Persons#searchPersons, version 2
 * (2026-11).
 */
export const PIPEDRIVE_KINDS = {
  persons: { fields: 'personFields', page: 'person', searchable: ['email', 'phone', 'name'] },
  organizations: { fields: 'organizationFields', page: 'organization', searchable: ['name', 'address'] },
  deals: { fields: 'dealFields', page: 'deal', searchable: ['title'] },
} as const satisfies Readonly<Record<string, Kind>>

export type PipedriveKind = keyof typeof PIPEDRIVE_KINDS
export const PIPEDRIVE_OBJECTS = ['persons', 'organizations', 'deals'] as const

/** Returns true for the key of a custom field, which is a hash. */
export const isCustomKey = (key: string): boolean => /^[0-9a-f]{40}$/.test(key)

const Fields = z.object({
  data: z.array(
    z.object({ field_code: z.string(), field_name: z.string(), field_type: z.string().nullish() }),
  ),
  additional_data: z.object({ next_cursor: z.string().nullish() }).nullish(),
})
const FormerFields = z.object({
  data: z.array(z.object({ key: z.string(), name: z.string(), field_type: z.string().nullish() })),
})
const MAX_PAGE = 500
/** The maximum number of pages of fields. No account has as many fields. */
const MAX_PAGES = 20

type PipedriveField = { key: string; name: string; type: string | null }

/** Returns the fields of a kind of record, by the name of its list: developers.pipedrive.com/docs/api/v1/PersonFields. */
export async function listPipedriveFields(
  send: SendRequest,
  list: string,
  isOffered: (key: string) => boolean = () => true,
): Promise<ProviderReply<Option[]>> {
  return mapReply(await readFields(send, list), (fields) =>
    byLabel(
      fields
        .filter(({ key }) => isOffered(key))
        .map(({ key, name, type }) => ({ value: key, label: name, extras: { type } })),
    ),
  )
}

/** Reads all fields by version 2 of the API, and by version 1 where an account does not have them in version 2. */
async function readFields(send: SendRequest, list: string): Promise<ProviderReply<PipedriveField[]>> {
  const fields: PipedriveField[] = []
  let cursor: string | undefined
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const reply = await send({ path: `/api/v2/${list}`, query: { limit: MAX_PAGE, cursor } }, Fields)
    if (!reply.ok) {
      return page === 1 && reply.refusal.kind === 'ineligible' ? readFormerFields(send, list) : reply
    }
    const { data, additional_data } = reply.body
    fields.push(
      ...data.map(({ field_code: key, field_name: name, field_type }) => ({
        key,
        name,
        type: field_type ?? null,
      })),
    )
    cursor = additional_data?.next_cursor ?? undefined
    if (cursor === undefined) break
  }
  return { ok: true, body: fields }
}

async function readFormerFields(send: SendRequest, list: string): Promise<ProviderReply<PipedriveField[]>> {
  const reply = await send({ path: `/v1/${list}`, query: { limit: MAX_PAGE } }, FormerFields)
  return mapReply(reply, ({ data }) =>
    data.map(({ key, name, field_type }) => ({ key, name, type: field_type ?? null })),
  )
}

const isKind = (text: string): text is PipedriveKind => PIPEDRIVE_OBJECTS.some((name) => name === text)
const parent = { field: 'object', fits: isKind }

function fieldsOf(isOffered: (key: string, kind: Kind) => boolean): OptionQuery {
  return {
    provider: pipedrive,
    parent,
    async list(send, object) {
      if (!isKind(object)) return { ok: true, body: [] }
      const kind = PIPEDRIVE_KINDS[object]
      return listPipedriveFields(send, kind.fields, (key) => isOffered(key, kind))
    },
  }
}

export const PIPEDRIVE_OPTIONS: Readonly<Record<string, OptionQuery>> = {
  'Pipedrive fields': fieldsOf(() => true),
  'searchable Pipedrive fields': fieldsOf(
    (key, { searchable }) => isCustomKey(key) || searchable.includes(key),
  ),
}
