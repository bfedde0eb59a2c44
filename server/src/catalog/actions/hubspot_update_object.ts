import { findValue, printValue } from '../crm/field-values.ts'
import { WRITE_INPUTS, WRITE_OUTPUTS, writeRecord } from '../crm/hubspot-write.ts'
import { objectType, OWN_ID } from '../crm/hubspot.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done } from '../outcome.ts'

export default defineAction({
  id: 'hubspot_update_object',
  name: 'Update HubSpot object',
  description: 'Updates a HubSpot record that already exists.',
  category: 'crm',
  synonyms: ['crm', 'contact', 'company', 'deal', 'write back'],
  credits: 0,
  timeoutSeconds: 60,
  inputs: {
    object_type: objectType,
    record_id: field.text({ label: 'Record ID', help: 'The ID of the record in HubSpot.' }),
    id_property: field.dropdown({
      from: 'HubSpot id properties',
      needs: ['object_type'],
      label: 'Match on',
      help: 'The unique property that identifies the record, when there is no record ID.',
      details: 'Its value is taken from `properties`. Default `hs_object_id`.',
    }),
    ...WRITE_INPUTS,
  },
  outputs: WRITE_OUTPUTS,
  async run({ inputs, context }) {
    const { record_id: id, id_property } = inputs
    const property = id === undefined ? (id_property?.trim() ?? OWN_ID) : OWN_ID
    const written = await writeRecord(inputs, context, ({ values }) => {
      const value = id?.trim() ?? printValue(findValue(values, property))
      if (value === '') {
        const message = `neither record_id nor ${property} in properties has a value to tell the record by`
        return { kind: 'unknown', message }
      }
      if (/^\.{1,2}$/.test(value)) return { kind: 'unknown', message: `${property} cannot be "${value}"` }
      return { kind: 'update', property, value }
    })
    if (!written.ok) return written.outcome
    const { record_id, account_url, provenance } = written
    return done({ record_id, account_url }, provenance)
  },
})
