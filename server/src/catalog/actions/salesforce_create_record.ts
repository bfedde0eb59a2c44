import { WRITE_INPUTS, WRITE_OUTPUTS, writeRecord } from '../crm/salesforce-write.ts'
import { salesforceObject } from '../crm/salesforce.ts'
import { defineAction } from '../define.ts'
import { done } from '../outcome.ts'

export default defineAction({
  id: 'salesforce_create_record',
  name: 'Create Salesforce record',
  description: 'Creates a record in Salesforce.',
  category: 'crm',
  synonyms: ['crm', 'sfdc', 'lead', 'account', 'contact', 'opportunity', 'export'],
  credits: 0,
  inputs: {
    salesforce_object: salesforceObject,
    ...WRITE_INPUTS,
  },
  outputs: WRITE_OUTPUTS,
  async run({ inputs, context }) {
    const written = await writeRecord(inputs, context, () => ({ kind: 'create' }))
    if (!written.ok) return written.outcome
    const { record_id, account_url, provenance } = written
    return done({ record_id, account_url }, provenance)
  },
})
