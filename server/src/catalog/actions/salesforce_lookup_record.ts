import { isObject } from '../../lib/json/object.ts'
import { readValues } from '../crm/field-values.ts'
import { exactMatch, ignoreEmptyCriteria, limit, namedValues, searchOperator } from '../crm/fields.ts'
import { queryRecords } from '../crm/salesforce-query.ts'
import { faultOfNames, recordUrl, salesforceObject } from '../crm/salesforce.ts'
import { isFieldPath } from '../crm/soql.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'
import { salesforce } from '../providers/salesforce/provider.ts'

export default defineAction({
  id: 'salesforce_lookup_record',
  name: 'Look up Salesforce record',
  description: 'Finds Salesforce records by the values of their fields.',
  category: 'crm',
  synonyms: ['crm', 'sfdc', 'search', 'find', 'soql', 'lead', 'account', 'contact'],
  credits: 0,
  timeoutSeconds: 60,
  inputs: {
    salesforce_object: salesforceObject,
    add_fields_and_their_values: namedValues(
      {
        label: 'Fields to search',
        help: 'The values to look for.',
        details: '{name, value} with the API name of a field.',
      },
      {
        from: 'Salesforce fields',
        needs: ['salesforce_object'],
      },
    ),
    search_operator: searchOperator,
    exact_match: exactMatch,
    ignore_empty_values: ignoreEmptyCriteria,
    fields_to_return: field.texts({
      label: 'Fields to return',
      help: 'Leave empty for all fields.',
      advanced: true,
    }),
    limit,
    connection: field.connection({ provider: salesforce }),
  },
  outputs: {
    records_found: output.table('The records found; empty when there are none.'),
    record_id: output.text('The id of the first.'),
    account_url: output.url('The page of the first in Salesforce.'),
  },
  async run({ inputs, context }) {
    const object = inputs.salesforce_object.trim()
    const values = readValues(inputs.add_fields_and_their_values, inputs.ignore_empty_values)
    const select = inputs.fields_to_return.map((name) => name.trim()).filter((name) => name !== '')
    const fault = faultOfNames(object, values, isFieldPath)
    if (fault !== null) return unrunnable(fault)
    const wrong = select.find((name) => !isFieldPath(name))
    if (wrong !== undefined) return unrunnable(`fields_to_return: "${wrong}" is not the API name of a field`)
    if (values.size === 0) {
      return unrunnable('nothing to look for: no field in add_fields_and_their_values has a value')
    }
    const query = {
      object,
      select,
      values,
      operator: inputs.search_operator ?? 'AND',
      exact: inputs.exact_match,
      limit: inputs.limit ?? 10,
    }
    const answer = await queryRecords(query, inputs.connection, context)
    if (!answer.ok) return answer.outcome
    const { records } = answer.body
    const record_id = records[0]?.Id ?? null
    const account_url = record_id === null ? null : recordUrl(context, answer.key, object, record_id)
    return done({ records_found: records.map(withoutAttributes), record_id, account_url }, answer.provenance)
  },
})

/** Removes `attributes`, the kind that Salesforce adds to each record and to those inside it. */
function withoutAttributes(record: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(record).filter(([name]) => name !== 'attributes')
  return Object.fromEntries(
    entries.map(([name, value]) => [name, isObject(value) ? withoutAttributes(value) : value]),
  )
}
