import { findValue, printValue } from '../crm/field-values.ts'
import { WRITE_INPUTS, WRITE_OUTPUTS, writeRecord } from '../crm/salesforce-write.ts'
import { salesforceObject, toPathStep } from '../crm/salesforce.ts'
import { isName } from '../crm/soql.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done } from '../outcome.ts'
import { output } from '../outputs.ts'

export default defineAction({
  id: 'salesforce_upsert_record',
  name: 'Upsert Salesforce record',
  description: 'Updates the Salesforce record with that external ID, or creates it.',
  category: 'crm',
  synonyms: ['crm', 'sfdc', 'lead', 'account', 'contact', 'sync', 'write back'],
  credits: 0,
  timeoutSeconds: 60,
  inputs: {
    salesforce_object: salesforceObject,
    salesforce_external_id_field: field.dropdown({
      required: true,
      from: 'Salesforce external id fields',
      needs: ['salesforce_object'],
      label: 'External ID field',
      help: 'The field that identifies the record.',
    }),
    record_id: field.text({
      label: 'External ID',
      help: 'The value of that field. Leave empty to take it from the fields below.',
      details: 'By default the one in `add_fields_and_their_values`.',
    }),
    ...WRITE_INPUTS,
  },
  outputs: {
    ...WRITE_OUTPUTS,
    created: output.boolean('True if it did not exist before.'),
  },
  async run({ inputs, context }) {
    const name = inputs.salesforce_external_id_field.trim()
    const unknown = (message: string) => ({ kind: 'unknown', message }) as const
    const written = await writeRecord(inputs, context, (values) => {
      if (!isName(name)) {
        return unknown(`salesforce_external_id_field: "${name}" is not the API name of a field`)
      }
      const value = inputs.record_id ?? printValue(findValue(values, name))
      if (value === '') return unknown(`${name} has no value, so there is no telling the record`)
      const step = toPathStep(value)
      return step === null ? unknown(`${name} cannot be "${value}"`) : { kind: 'upsert', field: name, step }
    })
    if (!written.ok) return written.outcome
    const { record_id, account_url, created, provenance } = written
    return done({ record_id, account_url, created }, provenance)
  },
})
