import { ignoreEmptyValues, namedValues } from '../crm/fields.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'
import { pipedrive } from '../providers/pipedrive/provider.ts'
import { pageOf, upsertRecord } from '../push/pipedrive-write.ts'
import { isCustomKey, PIPEDRIVE_KINDS, PIPEDRIVE_OBJECTS } from '../push/pipedrive.ts'
import { readWireValues } from '../push/values.ts'

export default defineAction({
  id: 'pipedrive_upsert',
  name: 'Upsert Pipedrive record',
  description: 'Updates the Pipedrive record that matches, or creates it.',
  category: 'crm',
  synonyms: ['crm', 'deal', 'person', 'organization', 'export'],
  credits: 0,
  timeoutSeconds: 60,
  inputs: {
    object: field.choice(PIPEDRIVE_OBJECTS, { required: true, label: 'Object', help: 'The kind of record.' }),
    match_field: field.dropdown({
      required: true,
      from: 'searchable Pipedrive fields',
      needs: ['object'],
      label: 'Match on',
      help: 'The field that identifies the record, such as email or name.',
      details: 'email, phone, name, title, or the key of a custom field. Its value is taken from `values`.',
    }),
    values: namedValues(
      {
        label: 'Fields',
        help: 'The fields to write and their values.',
        details: '{name, value} with the key of the field.',
      },
      {
        from: 'Pipedrive fields',
        needs: ['object'],
      },
    ),
    ignore_empty_values: ignoreEmptyValues,
    connection: field.connection({ provider: pipedrive }),
  },
  outputs: {
    record_id: output.text('The id of the record.'),
    url: output.url('Its page in Pipedrive.'),
    created: output.boolean('True if it did not exist before.'),
  },
  async run({ inputs, context }) {
    const { object, connection } = inputs
    const match = inputs.match_field.trim()
    const searchable: readonly string[] = PIPEDRIVE_KINDS[object].searchable
    if (!isCustomKey(match) && !searchable.includes(match)) {
      const known = searchable.join(', ')
      return unrunnable(`match_field of ${object} must be one of: ${known}, or the key of a custom field`)
    }
    const values = readWireValues(inputs.values, inputs.ignore_empty_values)
    if ((values.get(match) ?? null) === null) {
      return unrunnable(`${match} has no value in values, so there is no telling the record`)
    }
    const written = await upsertRecord({ connection, object, match, values, context })
    if (!written.ok) return written.outcome
    const { id, created, key, provenance } = written
    return done({ record_id: String(id), url: pageOf(key, object, id), created }, provenance)
  },
})
