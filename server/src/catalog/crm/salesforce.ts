import type { z } from 'zod'
import { trimEnd } from '../../lib/plain-text.ts'
import { field, type Pair } from '../fields/fields.ts'
import type { ProviderKey } from '../provider/access.ts'
import type { CellContext } from '../provider/context.ts'
import type { ProviderRequest } from '../provider/provider.ts'
import { askProvider, type ProviderCallResult } from '../provider/single-provider.ts'
import { salesforce } from '../providers/salesforce/provider.ts'
import { type FieldValues, readValues } from './field-values.ts'
import { namedValues } from './fields.ts'
import { isName } from './soql.ts'

export const SALESFORCE_API = '/services/data/v59.0'

export const salesforceObject = field.dropdown({
  required: true,
  from: 'Salesforce objects',
  label: 'Object',
  help: 'The kind of record, such as Account or Contact.',
  details: 'Takes its API name.',
})

export const fieldsToWrite = namedValues(
  {
    label: 'Fields',
    help: 'The fields to write and their values.',
    details: '{name, value} with the API name of the field.',
  },
  { from: 'writable Salesforce fields', needs: ['salesforce_object'] },
)

type Call<Body> = {
  connection: string | undefined
  request: ProviderRequest
  schema: z.ZodType<Body>
}

export function askSalesforce<Body>(
  call: Call<Body>,
  context: CellContext,
): Promise<ProviderCallResult<Body>> {
  return askProvider({ provider: salesforce, ...call }, context)
}

type Write = {
  salesforce_object: string
  add_fields_and_their_values: Pair[]
  ignore_empty_values: boolean
}
export type Plan = { ok: true; object: string; values: FieldValues } | { ok: false; message: string }

/** Returns the object type and the values to write, or why they cannot be written. */
export function planWrite(inputs: Write): Plan {
  const object = inputs.salesforce_object.trim()
  const values = readValues(inputs.add_fields_and_their_values, inputs.ignore_empty_values)
  const message = faultOfNames(object, values, isName)
  if (message !== null) return { ok: false, message }
  return values.size === 0
    ? { ok: false, message: 'nothing to write: no field in add_fields_and_their_values has a value' }
    : { ok: true, object, values }
}

export function faultOfNames(
  object: string,
  values: FieldValues,
  isField: (name: string) => boolean,
): string | null {
  if (!isName(object)) return `salesforce_object: "${object.slice(0, 100)}" is not an API name like Account`
  const wrong = [...values.keys()].find((name) => !isField(name))
  return wrong === undefined
    ? null
    : `add_fields_and_their_values: "${wrong.slice(0, 100)}" is not the API name of a field`
}

/** Encodes a value as one step of a path. Returns null for dots alone, which would be read as a way up. */
export function toPathStep(text: string): string | null {
  return /^\.{1,2}$/.test(text) ? null : encodeURIComponent(text.toWellFormed())
}

/** Returns the address of a record's page, on the instance where people log in. */
export function recordUrl({ egress }: CellContext, key: ProviderKey, object: string, id: string): string {
  const instance = key.fields['instance_url'] ?? egress.baseUrl(salesforce.id, '')
  return `${trimEnd(instance, '/')}/lightning/r/${object}/${id}/view`
}
