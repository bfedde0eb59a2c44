import { findValue, omitValues, printValue } from '../crm/field-values.ts'
import { connection, ignoreEmptyValues } from '../crm/fields.ts'
import { findPages, pageOf } from '../crm/hubspot-account.ts'
import {
  askHubspot,
  Found,
  objectType,
  OWN_ID,
  pathOfObject,
  planWrite,
  printProperties,
  propertiesToWrite,
} from '../crm/hubspot.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'

export default defineAction({
  id: 'hubspot_update_object',
  name: 'Update HubSpot object',
  description: 'Writes properties of a HubSpot record that is there already.',
  category: 'crm',
  credits: 0,
  timeoutSeconds: 60,
  inputs: {
    object_type: objectType,
    record_id: field.text({ description: 'The id of the record in HubSpot.' }),
    id_property: field.dropdown({
      from: 'HubSpot id properties',
      needs: ['object_type'],
      description:
        'Without record_id: the unique property that tells the record, by its value in properties. Default hs_object_id.',
    }),
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
    const name = inputs.record_id === undefined ? (inputs.id_property?.trim() ?? OWN_ID) : OWN_ID
    const value = inputs.record_id?.trim() ?? printValue(findValue(values, name))
    if (value === '') {
      return unrunnable(`neither record_id nor ${name} in properties has a value to tell the record by`)
    }
    if (/^\.{1,2}$/.test(value)) return unrunnable(`${name} cannot be "${value}"`)
    const pages = await findPages(connection, context)
    if (!pages.ok) return pages.outcome
    const request = {
      method: 'PATCH',
      path: pathOfObject(object, value),
      query: { idProperty: name === OWN_ID ? undefined : name },
      json: { properties: printProperties(omitValues(values, name)) },
    } as const
    const answer = await askHubspot({ connection, request, schema: Found }, context)
    if (!answer.ok) return answer.outcome
    const account_url = pageOf(answer.body, object, pages.account)
    return done({ record_id: answer.body.id, account_url }, answer.provenance)
  },
})
