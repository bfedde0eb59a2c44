import { findValue, printValue } from '../crm/field-values.ts'
import { identityProperties } from '../crm/hubspot-objects.ts'
import { WRITE_INPUTS, WRITE_OUTPUTS, writeRecord } from '../crm/hubspot-write.ts'
import { objectType, OWN_ID } from '../crm/hubspot.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done } from '../outcome.ts'
import { output } from '../outputs.ts'

export default defineAction({
  id: 'hubspot_upsert_object',
  name: 'Upsert HubSpot object',
  description: 'Updates the HubSpot record that matches, or creates it.',
  category: 'crm',
  synonyms: ['crm', 'contact', 'company', 'deal', 'sync', 'export', 'write back'],
  credits: 0,
  timeoutSeconds: 60,
  inputs: {
    object_type: objectType,
    id_property: field.dropdown({
      from: 'HubSpot id properties',
      needs: ['object_type'],
      label: 'Match on',
      help: 'The unique property that identifies the record. Usually email for contacts and domain for companies.',
      details:
        'Its value is taken from `properties`. Default `email` for contacts, `domain` for companies, else `hs_object_id`.',
    }),
    ...WRITE_INPUTS,
  },
  outputs: {
    ...WRITE_OUTPUTS,
    created: output.boolean('True if it did not exist before.'),
  },
  async run({ inputs, context }) {
    const written = await writeRecord(inputs, context, ({ object, values }) => {
      const property = inputs.id_property?.trim() ?? identityProperties(object)[0] ?? OWN_ID
      const value = printValue(findValue(values, property)).trim()
      if (value !== '') return { kind: 'upsert', property, value }
      const message = `${property} has no value in properties, so there is no telling the record`
      return { kind: 'unknown', message }
    })
    if (!written.ok) return written.outcome
    const { record_id, account_url, created, provenance } = written
    return done({ record_id, account_url, created }, provenance)
  },
})
