import { type FieldValue, printValue, readValues } from '../crm/field-values.ts'
import { exactMatch, ignoreEmptyCriteria, limit, namedValues, searchOperator } from '../crm/fields.ts'
import { findPages, pageOf } from '../crm/hubspot-account.ts'
import { shownProperties } from '../crm/hubspot-objects.ts'
import { askHubspot, faultOfObject, FoundList, objectType, pathOfObject } from '../crm/hubspot.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'
import { hubspot } from '../providers/hubspot/provider.ts'

export default defineAction({
  id: 'hubspot_lookup_object',
  name: 'Look up HubSpot object',
  description: 'Finds HubSpot records by the values of their properties.',
  category: 'crm',
  synonyms: ['crm', 'search', 'find', 'contact', 'company', 'deal'],
  credits: 0,
  timeoutSeconds: 60,
  inputs: {
    object_type: objectType,
    properties: namedValues(
      {
        label: 'Properties to search',
        help: 'The values to look for.',
        details: '{name, value} with the internal name of a property.',
      },
      {
        from: 'HubSpot properties',
        needs: ['object_type'],
      },
    ),
    id_property: field.dropdown({
      from: 'HubSpot id properties',
      needs: ['object_type'],
      label: 'Unique property only',
      help: 'Searches by this property alone and ignores the others.',
      placeholder: 'email',
      advanced: true,
    }),
    search_operator: searchOperator,
    exact_match: exactMatch,
    ignore_empty_values: ignoreEmptyCriteria,
    properties_to_return: field.texts({
      label: 'Properties to return',
      help: 'Added to the usual properties and those searched for.',
      advanced: true,
    }),
    limit,
    connection: field.connection({ provider: hubspot }),
  },
  outputs: {
    records_found: output.table('The records found; empty when there are none.'),
    record_id: output.text('The id of the first.'),
    account_url: output.url('The page of the first in HubSpot.'),
  },
  async run({ inputs, context }) {
    const object = inputs.object_type.trim()
    const fault = faultOfObject(object)
    if (fault !== null) return unrunnable(fault)
    const only = inputs.id_property?.trim()
    const wanted = [...readValues(inputs.properties, inputs.ignore_empty_values)].filter(
      ([name]) => only === undefined || name === only,
    )
    if (wanted.length === 0) {
      return unrunnable(
        only === undefined
          ? 'nothing to look for: none of the properties has a value'
          : `nothing to look for: ${only} has no value in properties`,
      )
    }
    const filters = wanted.map((one) => toFilter(one, inputs.exact_match || only !== undefined))
    const names = [...wanted.map(([name]) => name), ...inputs.properties_to_return.map((name) => name.trim())]
    const json = {
      filterGroups:
        inputs.search_operator === 'OR' ? filters.map((one) => ({ filters: [one] })) : [{ filters }],
      properties: [...new Set([...names, ...shownProperties(object)])].filter((name) => name !== ''),
      limit: inputs.limit ?? 10,
    }
    const pages = await findPages(inputs.connection, context)
    if (!pages.ok) return pages.outcome
    const request = { method: 'POST', path: pathOfObject(object, 'search'), json } as const
    const answer = await askHubspot({ connection: inputs.connection, request, schema: FoundList }, context)
    if (!answer.ok) return answer.outcome
    const [first] = answer.body.results
    return done(
      {
        records_found: answer.body.results.map(({ id, properties }) => ({ id, ...properties })),
        record_id: first?.id ?? null,
        account_url: first === undefined ? null : pageOf(first, object, pages.account),
      },
      answer.provenance,
    )
  },
})

function toFilter([propertyName, value]: [string, FieldValue], exact: boolean) {
  if (value === null) return { propertyName, operator: 'NOT_HAS_PROPERTY' }
  const text = printValue(value)
  return exact
    ? { propertyName, operator: 'EQ', value: text }
    : { propertyName, operator: 'CONTAINS_TOKEN', value: `*${text}*` }
}
