import { WRITE_INPUTS, WRITE_OUTPUTS, writeRecord } from '../crm/salesforce-write.ts'
import { salesforceObject } from '../crm/salesforce.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done } from '../outcome.ts'

export default defineAction({
  id: 'salesforce_update_record',
  name: 'Update Salesforce record',
  description: 'Updates a Salesforce record that already exists.',
  category: 'crm',
  synonyms: ['crm', 'sfdc', 'lead', 'account', 'contact', 'write back'],
  credits: 0,
  inputs: {
    salesforce_object: salesforceObject,
    record_id: field.text({
      required: true,
      label: 'Record ID',
      help: 'The ID of the record in Salesforce.',
    }),
    ...WRITE_INPUTS,
  },
  outputs: WRITE_OUTPUTS,
  async run({ inputs, context }) {
    const id = inputs.record_id.trim()
    const written = await writeRecord(inputs, context, () =>
      /^\w+$/.test(id)
        ? { kind: 'update', id }
        : { kind: 'unknown', message: `record_id: "${id}" is not an id of Salesforce` },
    )
    if (!written.ok) return written.outcome
    const { record_id, account_url, provenance } = written
    return done({ record_id, account_url }, provenance)
  },
})
