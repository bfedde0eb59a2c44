import { findValue, printValue } from '../crm/field-values.ts'
import { connection, ignoreEmptyValues } from '../crm/fields.ts'
import { findPages, pageOf } from '../crm/hubspot-account.ts'
import { identityProperties } from '../crm/hubspot-objects.ts'
import { upsert } from '../crm/hubspot-upsert.ts'
import { objectType, OWN_ID, planWrite, printProperties, propertiesToWrite } from '../crm/hubspot.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'

export default defineAction({
  id: 'hubspot_upsert_object',
  name: 'Upsert HubSpot object',
  description: 'Writes the HubSpot record with a certain property, and creates it where there is none.',
  category: 'crm',
  credits: 0,
  timeoutSeconds: 60,
  inputs: {
    object_type: objectType,
    id_property: field.dropdown({
      from: 'HubSpot id properties',
      needs: ['object_type'],
      description:
        'The property that tells the record, by its value in properties. Default email for contacts, domain for companies, else hs_object_id.',
    }),
    properties: propertiesToWrite,
    ignore_empty_values: ignoreEmptyValues,
    connection,
  },
  outputs: {
    record_id: output.text('The id of the record.'),
    account_url: output.url('Its page in HubSpot.'),
    created: output.boolean('Whether it was not there before.'),
  },
  async run({ inputs, context }) {
    const plan = planWrite(inputs)
    if (!plan.ok) return unrunnable(plan.message)
    const { object, values } = plan
    const { connection } = inputs
    const property = inputs.id_property?.trim() ?? identityProperties(object)[0] ?? OWN_ID
    const value = printValue(findValue(values, property)).trim()
    if (value === '')
      return unrunnable(`${property} has no value in properties, so there is no telling the record`)
    const pages = await findPages(connection, context)
    if (!pages.ok) return pages.outcome
    const properties = printProperties(values)
    const answer = await upsert({ connection, object, property, value, properties }, context)
    if (!answer.ok) return answer.outcome
    const { record, created, provenance } = answer
    return done(
      { record_id: record.id, account_url: pageOf(record, object, pages.account), created },
      provenance,
    )
  },
})
