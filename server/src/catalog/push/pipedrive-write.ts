import { z } from 'zod'
import { trimEnd } from '../../lib/plain-text.ts'
import { textOf } from '../chain/references.ts'
import { failed, type Outcome, type Provenance } from '../outcome.ts'
import type { ProviderKey } from '../provider/access.ts'
import type { CellContext } from '../provider/context.ts'
import type { ProviderRequest } from '../provider/provider.ts'
import { askProvider, type ProviderCallResult } from '../provider/single-provider.ts'
import { writeOnce, type WriteAttempt } from '../provider/write-once.ts'
import { pipedrive } from '../providers/pipedrive/provider.ts'
import { type FoundRecord, isSameText, printRecord } from './pipedrive-record.ts'
import { isCustomKey, PIPEDRIVE_KINDS, type PipedriveKind } from './pipedrive.ts'
import type { WireValues } from './values.ts'

type Write = {
  connection: string | undefined
  object: PipedriveKind
  /** The field whose value identifies the record. */
  match: string
  values: WireValues
  context: CellContext
}
type Written =
  | { ok: true; id: number; created: boolean; key: ProviderKey; provenance: Provenance[] }
  | { ok: false; outcome: Outcome<never> }

const Id = z.object({ data: z.object({ id: z.int() }) })
const Texts = z
  .array(z.string())
  .nullish()
  .transform((list) => list ?? [])
const Search = z.object({
  data: z.object({
    items: z.array(
      z.object({
        item: z.object({
          id: z.int(),
          name: z.string().nullish(),
          title: z.string().nullish(),
          address: z.string().nullish(),
          emails: Texts,
          phones: Texts,
        }),
      }),
    ),
  }),
})
type Item = z.infer<typeof Search>['data']['items'][number]['item']
const Records = z.object({
  data: z.array(z.object({ id: z.int(), custom_fields: z.record(z.string(), z.unknown()).nullish() })),
})
const MAX_FOUND = 50

/** Upserts a record. Pipedrive has no upsert, so the record is searched for, then updated or created. */
export function upsertRecord(write: Write): Promise<Written> {
  return writeOnce(write.context, (attempt) => searchAndWrite(write, attempt))
}

async function searchAndWrite(write: Write, attempt: WriteAttempt): Promise<Written> {
  const { object, match, values } = write
  const found = await search(write)
  if (!found.ok) return found
  const [known, other] = found.body
  if (other !== undefined) {
    const message = `Pipedrive: ${found.body.length} ${object} have the ${match} "${textOf(values.get(match))}"; merge them, or match by another field`
    return { ok: false, outcome: failed(message) }
  }
  // A record that an earlier try may have created counts as created by this cell.
  const isOurs = attempt.openSince !== null
  const before = isOurs ? attempt.describeLook(found.provenance, known !== undefined) : found.provenance
  const path = `/api/v2/${object}`
  const json = printRecord(values, known ?? null)
  if (known === undefined) {
    const made = await attempt.create(ask(write, { method: 'POST', path, json }, Id))
    if (!made.ok) return made
    const provenance = [...before, ...made.provenance]
    return { ok: true, id: made.body.data.id, created: true, key: made.key, provenance }
  }
  if (Object.keys(json).length === 0) {
    return { ok: true, id: known.id, created: isOurs, key: found.key, provenance: before }
  }
  const changed = await ask(write, { method: 'PATCH', path: `${path}/${known.id}`, json }, Id)
  if (!changed.ok) return changed
  const provenance = [...before, ...changed.provenance]
  return { ok: true, id: known.id, created: isOurs, key: changed.key, provenance }
}

function ask<Body>(
  { connection, context }: Write,
  request: ProviderRequest,
  schema: z.ZodType<Body>,
): Promise<ProviderCallResult<Body>> {
  return askProvider({ provider: pipedrive, connection, request, schema }, context)
}

/**
 * Returns the records whose field has exactly this value. The search does not return the keys of custom fields, so for
 * those the records are read by id.
 */
async function search(write: Write): Promise<ProviderCallResult<FoundRecord[]>> {
  const { object, match, values } = write
  const wanted = textOf(values.get(match)).trim()
  const fields = isCustomKey(match) ? 'custom_fields' : match
  const query = { term: wanted, fields, exact_match: true, limit: MAX_FOUND }
  const found = await ask(write, { path: `/api/v2/${object}/search`, query }, Search)
  if (!found.ok) return found
  const items = found.body.data.items.map(({ item }) => item)
  if (!isCustomKey(match)) {
    return {
      ...found,
      body: items.filter((item) => listTexts(item, match).some((one) => isSameText(one, wanted))),
    }
  }
  if (items.length === 0) return { ...found, body: [] }
  const ids = items.map(({ id }) => id).join(',')
  const read = await ask(write, { path: `/api/v2/${object}`, query: { ids } }, Records)
  if (!read.ok) return read
  const same = new Set(
    read.body.data
      .filter(({ custom_fields }) => isSameText(textOf(custom_fields?.[match]), wanted))
      .map(({ id }) => id),
  )
  const provenance = [...found.provenance, ...read.provenance]
  return { ...read, provenance, body: items.filter(({ id }) => same.has(id)) }
}

function listTexts(item: Item, field: string): readonly string[] {
  if (field === 'email') return item.emails
  if (field === 'phone') return item.phones
  const value = field === 'title' ? item.title : field === 'address' ? item.address : item.name
  return value === null || value === undefined ? [] : [value]
}

/** Returns the address of a record's page, at the account's own address if it is known. */
export function pageOf(key: ProviderKey, object: PipedriveKind, id: number): string {
  const place = key.fields['api_domain'] ?? 'https://app.pipedrive.com'
  return `${trimEnd(place, '/')}/${PIPEDRIVE_KINDS[object].page}/${id}`
}
