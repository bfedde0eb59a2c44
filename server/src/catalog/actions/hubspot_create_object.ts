import { WRITE_INPUTS, WRITE_OUTPUTS, writeRecord } from '../crm/hubspot-write.ts'
import { objectType } from '../crm/hubspot.ts'
import { defineAction } from '../define.ts'
import { done } from '../outcome.ts'

export default defineAction({
  id: 'hubspot_create_object',
  name: 'Create HubSpot object',
  description: 'Creates a record in HubSpot.',
  category: 'crm',
  synonyms: ['crm', 'contact', 'company', 'deal', 'export'],
  credits: 0,
  timeoutSeconds: 60,
  inputs: {
    object_type: objectType,
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
