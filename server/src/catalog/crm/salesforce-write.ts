import { z } from 'zod'
import { field, type Pair } from '../fields/fields.ts'
import { type Outcome, type Provenance, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'
import type { ProviderKey } from '../provider/access.ts'
import type { CellContext } from '../provider/context.ts'
import { writeOnce, type WriteAttempt } from '../provider/write-once.ts'
import { salesforce } from '../providers/salesforce/provider.ts'
import { type FieldValues, omitValues } from './field-values.ts'
import { ignoreEmptyValues } from './fields.ts'
import { queryRecords } from './salesforce-query.ts'
import { askSalesforce, fieldsToWrite, planWrite, recordUrl, SALESFORCE_API } from './salesforce.ts'
import type { WriteResult } from './write-result.ts'

/** The inputs of every writing action, after those that identify the record. */
export const WRITE_INPUTS = {
  add_fields_and_their_values: fieldsToWrite,
  ignore_empty_values: ignoreEmptyValues,
  connection: field.connection({ provider: salesforce }),
}

export const WRITE_OUTPUTS = {
  record_id: output.text('The id of the record.'),
  account_url: output.url('Its page in Salesforce.'),
}

/**
 * The record to write: a new one, the one with this id, or the one with this external id, which is created if there is
 * none.
 */
type SalesforceTarget =
  | { kind: 'create' }
  | { kind: 'update'; id: string }
  /** `step` is the value, encoded as a step of a path. */
  | { kind: 'upsert'; field: string; step: string }
  | { kind: 'unknown'; message: string }

type WriteInputs = {
  salesforce_object: string
  add_fields_and_their_values: Pair[]
  ignore_empty_values: boolean
  connection: string | undefined
}

/** The reply of Salesforce to a written record. */
const Written = z.object({ id: z.string().min(1), created: z.boolean().optional() })
const Named = z.object({ Id: z.string().min(1) })

/** Writes a record, for the actions that create, update and upsert. `choose` returns the record to write. */
export async function writeRecord(
  inputs: WriteInputs,
  context: CellContext,
  choose: (values: FieldValues) => SalesforceTarget,
): Promise<WriteResult> {
  const plan = planWrite(inputs)
  if (!plan.ok) return { ok: false, outcome: unrunnable(plan.message) }
  const { object, values } = plan
  const target = choose(values)
  if (target.kind === 'unknown') return { ok: false, outcome: unrunnable(target.message) }
  const records = `${SALESFORCE_API}/sobjects/${object}`
  const { connection } = inputs
  const written = await writeOnce(context, (attempt) =>
    send({ connection, object, records, values, context, attempt }, target),
  )
  if (!written.ok) return written
  const { id, created, key, provenance } = written
  return { ok: true, record_id: id, account_url: recordUrl(context, key, object, id), created, provenance }
}

type Write = {
  connection: string | undefined
  object: string
  records: string
  values: FieldValues
  context: CellContext
  attempt: WriteAttempt
}
type Sent =
  | { ok: true; id: string; created: boolean; key: ProviderKey; provenance: Provenance[] }
  | { ok: false; outcome: Outcome<never> }

async function send(write: Write, target: Exclude<SalesforceTarget, { kind: 'unknown' }>): Promise<Sent> {
  const { connection, records, values, context } = write
  if (target.kind === 'create') return create(write)
  if (target.kind === 'upsert') return upsert(write, target)
  const { id } = target
  const json = Object.fromEntries(omitValues(values, 'Id'))
  const request = { method: 'PATCH', path: `${records}/${id}`, json } as const
  const answer = await askSalesforce({ connection, request, schema: z.unknown() }, context)
  return answer.ok ? { ...answer, id, created: false } : answer
}

/**
 * Creates a record, after a search if an earlier try may have created it. Salesforce has no idempotency key for
 * creating: such a record is one from that time with the same values.
 */
async function create(write: Write): Promise<Sent> {
  const { connection, object, records, values, context, attempt } = write
  const looked: Provenance[] = []
  if (attempt.openSince !== null) {
    const since = attempt.openSince
    const query = { object, select: ['Id'], values, operator: 'AND', exact: true, limit: 1, since } as const
    const found = await queryRecords(query, connection, context)
    if (!found.ok) return found
    const [record] = found.body.records
    looked.push(...attempt.describeLook(found.provenance, record !== undefined))
    if (record !== undefined) return { ...found, id: record.Id, created: true, provenance: looked }
  }
  const request = { method: 'POST', path: records, json: Object.fromEntries(values) } as const
  const call = askSalesforce({ connection, request, schema: Written }, context)
  const answer = await attempt.create(call)
  if (!answer.ok) return answer
  return { ...answer, id: answer.body.id, created: true, provenance: [...looked, ...answer.provenance] }
}

async function upsert(
  { connection, records, values, context }: Write,
  { field, step }: Extract<SalesforceTarget, { kind: 'upsert' }>,
): Promise<Sent> {
  const path = `${records}/${field}/${step}`
  // The field in the address must not be repeated in the body.
  const json = Object.fromEntries(omitValues(values, field, 'Id'))
  const request = { method: 'PATCH', path, json } as const
  const answer = await askSalesforce({ connection, request, schema: Written.nullable() }, context)
  if (!answer.ok) return answer
  const { body, provenance } = answer
  if (body !== null) return { ...answer, id: body.id, created: body.created ?? false }
  // Some servers reply to an update without content. The id is then read in a further call.
  const query = { fields: 'Id' }
  const found = await askSalesforce({ connection, request: { path, query }, schema: Named }, context)
  if (!found.ok) return found
  return { ...found, id: found.body.Id, created: false, provenance: [...provenance, ...found.provenance] }
}
