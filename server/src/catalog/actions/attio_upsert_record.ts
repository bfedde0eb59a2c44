import { z } from 'zod'
import { ignoreEmptyValues, namedValues } from '../crm/fields.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'
import { askProvider } from '../provider/single-provider.ts'
import { attio } from '../providers/attio/provider.ts'
import { isAttioSlug } from '../push/attio.ts'
import { readWireValues } from '../push/values.ts'

// docs.attio.com/rest-api/endpoint-reference/records/upsert-a-record (2026-11).
const Written = z.object({
  data: z.object({
    id: z.object({ record_id: z.string().min(1) }),
    created_at: z.string().optional(),
    web_url: z.url().optional(),
  }),
})

/** The tolerance for differing clocks: Attio returns only the time when a record was created. */
const CLOCK_MS = 10_000

export default defineAction({
  id: 'attio_upsert_record',
  name: 'Upsert Attio record',
  description: 'Updates the Attio record that matches, or creates it.',
  category: 'crm',
  synonyms: ['crm', 'export', 'save'],
  credits: 0,
  timeoutSeconds: 60,
  inputs: {
    object: field.dropdown({
      required: true,
      from: 'Attio objects',
      label: 'Object',
      help: 'The kind of record, such as companies or people.',
      details: 'Takes its slug.',
    }),
    match_field: field.dropdown({
      required: true,
      from: 'unique Attio attributes',
      needs: ['object'],
      label: 'Match on',
      help: 'The unique attribute that identifies the record, such as domains.',
      details: 'Its value is taken from `values`.',
    }),
    values: namedValues(
      {
        label: 'Attributes',
        help: 'The attributes to write and their values.',
        details: '{name, value} with the slug of the attribute.',
      },
      {
        from: 'writable Attio attributes',
        needs: ['object'],
      },
    ),
    ignore_empty_values: ignoreEmptyValues,
    connection: field.connection({ provider: attio }),
  },
  outputs: {
    record_id: output.text('The id of the record.'),
    url: output.url('Its page in Attio.'),
    created: output.boolean('True if it did not exist before, by its creation time in Attio.'),
  },
  async run({ inputs, context }) {
    const object = inputs.object.trim()
    const match = inputs.match_field.trim()
    if (!isAttioSlug(object))
      return unrunnable(`object: "${object.slice(0, 100)}" is not a slug like companies`)
    const values = readWireValues(inputs.values, inputs.ignore_empty_values)
    if ((values.get(match) ?? null) === null) {
      return unrunnable(`${match} has no value in values, so there is no telling the record`)
    }
    const started = context.now().getTime()
    const request = {
      method: 'PUT',
      path: `/v2/objects/${object}/records`,
      query: { matching_attribute: match },
      json: { data: { values: Object.fromEntries(values) } },
    } as const
    const { connection } = inputs
    const answer = await askProvider({ provider: attio, connection, request, schema: Written }, context)
    if (!answer.ok) return answer.outcome
    const { id, created_at, web_url } = answer.body.data
    const created = Date.parse(created_at ?? '') >= started - CLOCK_MS
    return done({ record_id: id.record_id, url: web_url ?? null, created }, answer.provenance)
  },
})
