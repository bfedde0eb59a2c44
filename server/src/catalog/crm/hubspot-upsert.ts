import { z } from 'zod'
import { failed, type Outcome, type Provenance } from '../outcome.ts'
import type { CellContext } from '../provider/context.ts'
import type { ProviderRequest } from '../provider/provider.ts'
import { askHubspot, Found, FoundList, pathOfObject, searchBy } from './hubspot.ts'

type Upsert = {
  connection: string | undefined
  object: string
  /** The property that tells the record, and its value. */
  property: string
  value: string
  properties: Record<string, string>
}

type Upserted =
  | { ok: true; record: Found; created: boolean; provenance: Provenance[] }
  | { ok: false; outcome: Outcome<never> }

const Batch = z.object({
  results: z.array(Found.extend({ new: z.boolean().default(false) })).default([]),
  errors: z.array(z.object({ message: z.string() })).default([]),
})

/** One call where the property is unique; HubSpot refuses others, as a company's domain, and they are searched for. */
export async function upsert(
  { connection, object, property, value, properties }: Upsert,
  context: CellContext,
): Promise<Upserted> {
  const inputs = [{ idProperty: property, id: value, properties }]
  const request = { method: 'POST', path: pathOfObject(object, 'batch', 'upsert'), json: { inputs } } as const
  const answer = await askHubspot({ connection, request, schema: Batch }, context)
  if (answer.ok) {
    const { results, errors } = answer.body
    const [record] = results
    if (record !== undefined) {
      return { ok: true, record, created: record.new, provenance: answer.provenance }
    }
    return { ok: false, outcome: failed(`HubSpot: ${errors[0]?.message ?? 'no record was written'}`) }
  }
  if (answer.refusal?.kind !== 'ineligible') return answer
  return searchAndWrite({ connection, object, property, value, properties }, context)
}

async function searchAndWrite(
  { connection, object, property, value, properties }: Upsert,
  context: CellContext,
): Promise<Upserted> {
  const search = searchBy(object, property, value, 2)
  const found = await askHubspot({ connection, request: search, schema: FoundList }, context)
  if (!found.ok) return found
  const { results } = found.body
  if (results.length > 1) {
    const message = `HubSpot: ${found.body.total ?? results.length} records have the ${property} "${value}"; choose an id_property that is unique`
    return { ok: false, outcome: failed(message) }
  }
  const [known] = results
  const request: ProviderRequest =
    known === undefined
      ? { method: 'POST', path: pathOfObject(object), json: { properties } }
      : { method: 'PATCH', path: pathOfObject(object, known.id), json: { properties } }
  const once = known === undefined ? { once: true as const } : {}
  const written = await askHubspot({ connection, request, schema: Found, ...once }, context)
  if (!written.ok) return written
  const provenance = [...found.provenance, ...written.provenance]
  return { ok: true, record: written.body, created: known === undefined, provenance }
}
