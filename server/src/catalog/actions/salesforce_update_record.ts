import { z } from 'zod'
import { omitValues } from '../crm/field-values.ts'
import { connection, ignoreEmptyValues } from '../crm/fields.ts'
import {
  askSalesforce,
  fieldsToWrite,
  planWrite,
  recordUrl,
  SALESFORCE_API,
  salesforceObject,
} from '../crm/salesforce.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'

export default defineAction({
  id: 'salesforce_update_record',
  name: 'Update Salesforce record',
  description: 'Writes fields of a Salesforce record that is there already.',
  category: 'crm',
  credits: 0,
  inputs: {
    salesforce_object: salesforceObject,
    record_id: field.text({ required: true, description: 'The id of the record.' }),
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
    const record_id = inputs.record_id.trim()
    if (!/^\w+$/.test(record_id)) return unrunnable(`record_id: "${record_id}" is not an id of Salesforce`)
    const request = {
      method: 'PATCH',
      path: `${SALESFORCE_API}/sobjects/${object}/${record_id}`,
      json: Object.fromEntries(omitValues(values, 'Id')),
    } as const
    const { connection } = inputs
    const answer = await askSalesforce({ connection, request, schema: z.unknown() }, context)
    if (!answer.ok) return answer.outcome
    const account_url = recordUrl(context, answer.key, object, record_id)
    return done({ record_id, account_url }, answer.provenance)
  },
})
