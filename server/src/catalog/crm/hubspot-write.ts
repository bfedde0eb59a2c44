import { z } from 'zod'
import { plural } from '../../lib/plural.ts'
import { field, type Pair } from '../fields/fields.ts'
import { failed, type Outcome, type Provenance, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'
import type { CellContext } from '../provider/context.ts'
import type { ProviderCallResult } from '../provider/single-provider.ts'
import { CANNOT_LOOK, writeOnce, type WriteAttempt } from '../provider/write-once.ts'
import { hubspot } from '../providers/hubspot/provider.ts'
import { type FieldValues, omitValues } from './field-values.ts'
import { ignoreEmptyValues } from './fields.ts'
import { findPages, pageOf } from './hubspot-account.ts'
import { CONTACTS, findObjectType } from './hubspot-objects.ts'
import {
  askHubspot,
  Found,
  FoundList,
  OWN_ID,
  pathOfObject,
  planWrite,
  printProperties,
  propertiesToWrite,
  searchBy,
  searchForCopy,
} from './hubspot.ts'
import type { WriteResult } from './write-result.ts'

/** The inputs of every writing action, after those that identify the record. */
export const WRITE_INPUTS = {
  properties: propertiesToWrite,
  ignore_empty_values: ignoreEmptyValues,
  connection: field.connection({ provider: hubspot }),
}

export const WRITE_OUTPUTS = {
  record_id: output.text('The id of the record.'),
  account_url: output.url('Its page in HubSpot.'),
}

/** The record to write: a new one, or the one whose property has this value. `upsert` creates it if there is none. */
type HubspotTarget =
  | { kind: 'create' }
  | { kind: 'update' | 'upsert'; property: string; value: string }
  | { kind: 'unknown'; message: string }

type WriteInputs = {
  object_type: string
  properties: Pair[]
  ignore_empty_values: boolean
  connection: string | undefined
}

/** Writes a record, for the actions that create, update and upsert. `choose` returns the record to write. */
export async function writeRecord(
  inputs: WriteInputs,
  context: CellContext,
  choose: (plan: { object: string; values: FieldValues }) => HubspotTarget,
): Promise<WriteResult> {
  const plan = planWrite(inputs)
  if (!plan.ok) return { ok: false, outcome: unrunnable(plan.message) }
  const { object, values } = plan
  const target = choose(plan)
  if (target.kind === 'unknown') return { ok: false, outcome: unrunnable(target.message) }
  return writeOnce(context, async (attempt): Promise<WriteResult> => {
    const pages = await findPages(inputs.connection, context)
    if (!pages.ok) return pages
    const written = await send({ connection: inputs.connection, object, values, context, attempt }, target)
    if (!written.ok) return written
    const { record, created, provenance } = written
    const account_url = pageOf(record, object, pages.account)
    return { ok: true, record_id: record.id, account_url, created, provenance }
  })
}

type Write = {
  connection: string | undefined
  object: string
  values: FieldValues
  context: CellContext
  attempt: WriteAttempt
}
type Written =
  | { ok: true; record: Found; created: boolean; provenance: Provenance[] }
  /** `isMissing`: there is no such record. */
  | { ok: false; outcome: Outcome<never>; isMissing?: boolean }
type Known = Exclude<HubspotTarget, { kind: 'create' | 'unknown' }>

async function send(write: Write, target: Exclude<HubspotTarget, { kind: 'unknown' }>): Promise<Written> {
  if (target.kind === 'create') return lookAndCreate(write)
  return target.kind === 'update' ? update(write, target) : upsert(write, target)
}

/**
 * Creates a record, after a search if an earlier try may have created it. HubSpot has no idempotency key for creating:
 * such a record is one from that time with the same values.
 */
async function lookAndCreate(write: Write): Promise<Written> {
  const { connection, object, values, context, attempt } = write
  if (attempt.openSince === null) return create(write)
  const since = attempt.openSince.getTime()
  const request = searchForCopy(object, values)
  if (request === null) return { ok: false, outcome: failed(`HubSpot: ${CANNOT_LOOK}`) }
  const found = await askHubspot({ connection, request, schema: FoundList }, context)
  if (!found.ok) return found
  const record = found.body.results.find(({ createdAt }) => Date.parse(createdAt ?? '') >= since)
  const provenance = attempt.describeLook(found.provenance, record !== undefined)
  if (record !== undefined) return { ok: true, record, created: true, provenance }
  const written = await create(write)
  return written.ok ? { ...written, provenance: [...provenance, ...written.provenance] } : written
}

async function create({ connection, object, values, context, attempt }: Write): Promise<Written> {
  const json = { properties: printProperties(values) }
  const request = { method: 'POST', path: pathOfObject(object), json } as const
  const call = askHubspot({ connection, request, schema: Found }, context)
  return toWritten(await attempt.create(call), true)
}

async function update(
  { connection, object, values, context }: Write,
  { property, value }: { property: string; value: string },
): Promise<Written> {
  const request = {
    method: 'PATCH',
    path: pathOfObject(object, value),
    query: { idProperty: property === OWN_ID ? undefined : property },
    json: { properties: printProperties(omitValues(values, property)) },
  } as const
  return toWritten(await askHubspot({ connection, request, schema: Found }, context), false)
}

function toWritten(answer: ProviderCallResult<Found>, created: boolean): Written {
  return answer.ok
    ? { ok: true, record: answer.body, created, provenance: answer.provenance }
    : withMissing(answer)
}

function withMissing({ outcome, refusal }: Extract<ProviderCallResult<Found>, { ok: false }>): Written {
  const isMissing = refusal?.kind === 'ineligible' && refusal.status === 404
  return { ok: false, outcome, isMissing }
}

const Batch = z.object({
  results: z.array(Found.extend({ new: z.boolean().default(false) })).default([]),
  errors: z.array(z.object({ message: z.string() })).default([]),
})

/** HubSpot does not take partial upserts of contacts by email, so the contact is updated, or created if there is none. */
async function upsertByEmail(write: Write, known: Known): Promise<Written> {
  const written = await update(write, known)
  return !written.ok && written.isMissing === true ? lookAndCreate(write) : written
}

/**
 * Upserts in one call if the property is unique. HubSpot refuses others, such as a company's domain; then the record is
 * searched for.
 */
async function upsert(write: Write, { property, value }: Known): Promise<Written> {
  const { connection, object, values, context } = write
  if (property === 'email' && findObjectType(object) === CONTACTS) {
    return upsertByEmail(write, { kind: 'upsert', property, value })
  }
  const inputs = [{ idProperty: property, id: value, properties: printProperties(values) }]
  const request = { method: 'POST', path: pathOfObject(object, 'batch', 'upsert'), json: { inputs } } as const
  const answer = await askHubspot({ connection, request, schema: Batch }, context)
  if (!answer.ok)
    return answer.refusal?.kind === 'ineligible' ? searchAndWrite(write, property, value) : answer
  const { results, errors } = answer.body
  const [record] = results
  if (record !== undefined) return { ok: true, record, created: record.new, provenance: answer.provenance }
  return { ok: false, outcome: failed(`HubSpot: ${errors[0]?.message ?? 'no record was written'}`) }
}

async function searchAndWrite(write: Write, property: string, value: string): Promise<Written> {
  const { connection, object, context, attempt } = write
  const request = searchBy(object, property, value, 2)
  const found = await askHubspot({ connection, request, schema: FoundList }, context)
  if (!found.ok) return found
  const { results, total } = found.body
  if (results.length > 1) {
    const message = `HubSpot: ${plural(total ?? results.length, 'record')} have the ${property} "${value}"; choose an id_property that is unique`
    return { ok: false, outcome: failed(message) }
  }
  const [known] = results
  // A record that an earlier try may have created counts as created by this cell.
  const isOurs = attempt.openSince !== null
  const looked = isOurs ? attempt.describeLook(found.provenance, known !== undefined) : found.provenance
  const written =
    known === undefined ? await create(write) : await update(write, { property: OWN_ID, value: known.id })
  if (!written.ok) return written
  return { ...written, created: written.created || isOurs, provenance: [...looked, ...written.provenance] }
}
