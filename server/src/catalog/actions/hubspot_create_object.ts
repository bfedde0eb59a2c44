import { connection, ignoreEmptyValues } from '../crm/fields.ts'
import { findPages, pageOf } from '../crm/hubspot-account.ts'
import {
  askHubspot,
  Found,
  objectType,
  pathOfObject,
  planWrite,
  printProperties,
  propertiesToWrite,
} from '../crm/hubspot.ts'
import { defineAction } from '../define.ts'
import { done, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'

export default defineAction({
  id: 'hubspot_create_object',
  name: 'Create HubSpot object',
  description: 'Creates a record in HubSpot.',
  category: 'crm',
  credits: 0,
  timeoutSeconds: 60,
  inputs: {
    object_type: objectType,
    properties: propertiesToWrite,
    ignore_empty_values: ignoreEmptyValues,
    connection,
  },
  outputs: {
    record_id: output.text('The id of the record.'),
    account_url: output.url('Its page in HubSpot.'),
  },
  async run({ inputs, context }) {
    const plan = planWrite(inputs)
    if (!plan.ok) return unrunnable(plan.message)
    const { object, values } = plan
    const { connection } = inputs
    const pages = await findPages(connection, context)
    if (!pages.ok) return pages.outcome
    const request = {
      method: 'POST',
      path: pathOfObject(object),
      json: { properties: printProperties(values) },
    } as const
    const answer = await askHubspot({ connection, request, schema: Found, once: true }, context)
    if (!answer.ok) return answer.outcome
    const account_url = pageOf(answer.body, object, pages.account)
    return done({ record_id: answer.body.id, account_url }, answer.provenance)
  },
})
