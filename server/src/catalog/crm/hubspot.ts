import { z } from 'zod'
import { field, type Pair } from '../fields/fields.ts'
import type { CellContext } from '../provider/context.ts'
import type { ProviderRequest } from '../provider/provider.ts'
import { askProvider, type ProviderCallResult } from '../provider/single-provider.ts'
import { hubspot } from '../providers/hubspot/provider.ts'
import { type FieldValues, omitValues, printValue, readValues } from './field-values.ts'
import { namedValues } from './fields.ts'

export const objectType = field.dropdown({
  required: true,
  from: 'HubSpot object types',
  label: 'Object',
  help: 'The kind of record, such as contacts, companies or deals.',
  details: 'contacts, companies, deals, or the id of a custom object.',
})

export const propertiesToWrite = namedValues(
  {
    label: 'Properties',
    help: 'The properties to write and their values.',
    details: '{name, value} with the internal name of the property.',
  },
  { from: 'writable HubSpot properties', needs: ['object_type'] },
)

/** The property that holds HubSpot's own id of a record. */
export const OWN_ID = 'hs_object_id'

export const Found = z.object({
  id: z.union([z.string().min(1), z.number()]).transform(String),
  properties: z.record(z.string(), z.unknown()).default({}),
  url: z.string().optional(),
  createdAt: z.string().optional(),
})
export type Found = z.infer<typeof Found>

export const FoundList = z.object({ total: z.number().optional(), results: z.array(Found) })

type Call<Body> = {
  connection: string | undefined
  request: ProviderRequest
  schema: z.ZodType<Body>
}

export function askHubspot<Body>(call: Call<Body>, context: CellContext): Promise<ProviderCallResult<Body>> {
  const isSearch = call.request.path.endsWith('/search')
  return askProvider({ provider: hubspot, ...call, ...(isSearch ? { apart: SEARCHES } : {}) }, context)
}

/** HubSpot counts searches apart: 5 a second for an account, one of which stays free for other programs. */
const SEARCHES = { name: 'search', limits: { perSecond: 4 } }

export function pathOfObject(object: string, ...steps: string[]): string {
  return ['/crm/v3/objects', object, ...steps.map(encodeURIComponent)].join('/')
}

/** Returns true for words that can be part of addresses. */
export const isObjectType = (text: string): boolean => /^[A-Za-z0-9][\w-]*$/.test(text)

/** Returns the properties as texts, as HubSpot expects them. An empty text clears a property. */
export function printProperties(values: FieldValues): Record<string, string> {
  return Object.fromEntries([...omitValues(values, OWN_ID)].map(([name, value]) => [name, printValue(value)]))
}

type Write = { object_type: string; properties: Pair[]; ignore_empty_values: boolean }
export type Plan = { ok: true; object: string; values: FieldValues } | { ok: false; message: string }

/** Returns the object type and the values to write, or why they cannot be written. */
export function planWrite(inputs: Write): Plan {
  const object = inputs.object_type.trim()
  const values = readValues(inputs.properties, inputs.ignore_empty_values)
  const message = faultOfObject(object)
  if (message !== null) return { ok: false, message }
  return values.size === 0
    ? { ok: false, message: 'nothing to write: none of the properties has a value' }
    : { ok: true, object, values }
}

export function faultOfObject(object: string): string | null {
  return isObjectType(object)
    ? null
    : `object_type: "${object.slice(0, 100)}" is not a type of HubSpot objects like contacts`
}

/** Returns a request for the records whose property has exactly this value. */
export function searchBy(object: string, property: string, value: string, limit: number): ProviderRequest {
  const filters = [{ propertyName: property, operator: 'EQ', value }]
  const json = { filterGroups: [{ filters }], properties: [property], limit }
  return { method: 'POST', path: pathOfObject(object, 'search'), json }
}

/**
 * The limits of a search: 6 filters in a group, 3,000 characters in a filter
 * (developers.hubspot.com/docs/api/crm/search).
 */
const MAX_FILTERS = 6
const MAX_FILTER_LENGTH = 3000

/**
 * Returns a request for the newest records with the given values, or null if none of the values can be searched for.
 */
export function searchForCopy(object: string, values: FieldValues): ProviderRequest | null {
  const filters = Object.entries(printProperties(values))
    .filter(([, value]) => value !== '' && value.length <= MAX_FILTER_LENGTH)
    .slice(0, MAX_FILTERS)
    .map(([propertyName, value]) => ({ propertyName, operator: 'EQ', value }))
  if (filters.length === 0) return null
  const sorts = [{ propertyName: OWN_ID, direction: 'DESCENDING' }]
  const json = { filterGroups: [{ filters }], sorts, properties: [OWN_ID], limit: 10 }
  return { method: 'POST', path: pathOfObject(object, 'search'), json }
}
