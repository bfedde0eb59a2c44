import { z } from 'zod'
import { findValue, omitValues, printValue } from '../crm/field-values.ts'
import { connection, ignoreEmptyValues } from '../crm/fields.ts'
import {
  askSalesforce,
  fieldsToWrite,
  planWrite,
  recordUrl,
  SALESFORCE_API,
  salesforceObject,
  toPathStep,
  Written,
} from '../crm/salesforce.ts'
import { isName } from '../crm/soql.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'

const Named = z.object({ Id: z.string().min(1) })

export default defineAction({
  id: 'salesforce_upsert_record',
  name: 'Upsert Salesforce record',
  description: 'Writes the Salesforce record with a certain external id, and creates it where there is none.',
  category: 'crm',
  credits: 0,
  timeoutSeconds: 60,
  inputs: {
    salesforce_object: salesforceObject,
    salesforce_external_id_field: field.dropdown({
      required: true,
      from: 'Salesforce external id fields',
      needs: ['salesforce_object'],
      description: 'The external id field that tells the record.',
    }),
    record_id: field.text({
      description: 'The value of that field. By default the one in add_fields_and_their_values.',
    }),
    add_fields_and_their_values: fieldsToWrite,
    ignore_empty_values: ignoreEmptyValues,
    connection,
  },
  outputs: {
    record_id: output.text('The id of the record.'),
    account_url: output.url('Its page in Salesforce.'),
    created: output.boolean('Whether it was not there before.'),
  },
  async run({ inputs, context }) {
    const plan = planWrite(inputs)
    if (!plan.ok) return unrunnable(plan.message)
    const { object, values } = plan
    const name = inputs.salesforce_external_id_field.trim()
    if (!isName(name)) {
      return unrunnable(`salesforce_external_id_field: "${name}" is not the API name of a field`)
    }
    const value = inputs.record_id ?? printValue(findValue(values, name))
    if (value === '') return unrunnable(`${name} has no value, so there is no telling the record`)
    const step = toPathStep(value)
    if (step === null) return unrunnable(`${name} cannot be "${value}"`)
    const path = `${SALESFORCE_API}/sobjects/${object}/${name}/${step}`
    // The field in the address must not be repeated in the body.
    const request = {
      method: 'PATCH',
      path,
      json: Object.fromEntries(omitValues(values, name, 'Id')),
    } as const
    const { connection } = inputs
    const answer = await askSalesforce({ connection, request, schema: Written.nullable() }, context)
    if (!answer.ok) return answer.outcome
    const { body, key, provenance } = answer
    if (body !== null) {
      const { id: record_id, created = false } = body
      return done({ record_id, account_url: recordUrl(context, key, object, record_id), created }, provenance)
    }
    // Some answer an update without content, and its id is known only by asking.
    const found = await askSalesforce(
      { connection, request: { path, query: { fields: 'Id' } }, schema: Named },
      context,
    )
    if (!found.ok) return found.outcome
    const { Id: record_id } = found.body
    const account_url = recordUrl(context, key, object, record_id)
    return done({ record_id, account_url, created: false }, [...provenance, ...found.provenance])
  },
})
