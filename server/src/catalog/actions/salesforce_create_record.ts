import { connection, ignoreEmptyValues } from '../crm/fields.ts'
import {
  askSalesforce,
  fieldsToWrite,
  planWrite,
  recordUrl,
  SALESFORCE_API,
  salesforceObject,
  Written,
} from '../crm/salesforce.ts'
import { defineAction } from '../define.ts'
import { done, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'

export default defineAction({
  id: 'salesforce_create_record',
  name: 'Create Salesforce record',
  description: 'Creates a record in Salesforce.',
  category: 'crm',
  credits: 0,
  inputs: {
    salesforce_object: salesforceObject,
    add_fields_and_their_values: fieldsToWrite,
    ignore_empty_values: ignoreEmptyValues,
    connection,
  },
  outputs: {
    record_id: output.text('The id of the record.'),
    account_url: output.url('Its page in Salesforce.'),
  },
  async run({ inputs, context }) {
    const plan = planWrite(inputs)
    if (!plan.ok) return unrunnable(plan.message)
    const { object, values } = plan
    const request = {
      method: 'POST',
      path: `${SALESFORCE_API}/sobjects/${object}`,
      json: Object.fromEntries(values),
    } as const
    const { connection } = inputs
    const answer = await askSalesforce({ connection, request, schema: Written, once: true }, context)
    if (!answer.ok) return answer.outcome
    const { id: record_id } = answer.body
    const account_url = recordUrl(context, answer.key, object, record_id)
    return done({ record_id, account_url }, answer.provenance)
  },
})
