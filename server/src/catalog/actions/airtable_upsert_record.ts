import { z } from 'zod'
import { ignoreEmptyValues, namedValues } from '../crm/fields.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, failed, unrunnable } from '../outcome.ts'
import { output } from '../outputs.ts'
import { askProvider } from '../provider/single-provider.ts'
import { airtable } from '../providers/airtable/provider.ts'
import { isAirtableBase } from '../push/airtable.ts'
import { readWireValues } from '../push/values.ts'

// airtable.com/developers/web/api/update-multiple-records (2026-11): performUpsert takes 1 to 3 fields.
const Written = z.object({
  records: z.array(z.object({ id: z.string().min(1) })),
  createdRecords: z.array(z.string()).default([]),
})
const MAX_MATCH_FIELDS = 3

export default defineAction({
  id: 'airtable_upsert_record',
  name: 'Upsert Airtable record',
  description: 'Updates the Airtable record that matches, or creates it.',
  category: 'data',
  synonyms: ['base', 'database', 'save', 'export'],
  credits: 0,
  timeoutSeconds: 60,
  inputs: {
    base: field.dropdown({
      required: true,
      from: 'Airtable bases',
      label: 'Base',
      help: 'The Airtable base to write to.',
      details: 'Takes the id of the base.',
    }),
    table: field.dropdown({
      required: true,
      from: 'Airtable tables',
      needs: ['base'],
      label: 'Table',
      help: 'The table to write to.',
      details: 'Takes its id or its name.',
    }),
    match_fields: field.texts({
      required: true,
      label: 'Match on',
      help: 'The fields that identify a record. Up to 3.',
      details: 'Their values are taken from `values`.',
    }),
    values: namedValues(
      {
        label: 'Fields',
        help: 'The fields to write and their values.',
        details: '{name, value} with the name of the field.',
      },
      {
        from: 'Airtable fields',
        needs: ['base', 'table'],
      },
    ),
    typecast: field.toggle({
      default: true,
      label: 'Convert values',
      help: 'Airtable converts text to the type of the field, such as dates and options.',
      details: 'Default on.',
      advanced: true,
    }),
    ignore_empty_values: ignoreEmptyValues,
    connection: field.connection({ provider: airtable }),
  },
  outputs: {
    id: output.text('The id of the record.'),
    url: output.url('Its page in Airtable.'),
    created: output.boolean('True if it did not exist before.'),
  },
  async run({ inputs, context }) {
    const base = inputs.base.trim()
    const table = inputs.table.trim()
    if (!isAirtableBase(base)) return unrunnable('base must be the id of a base, as appXXXXXXXXXXXXXX')
    if (/^\.{0,2}$/.test(table)) return unrunnable('table must be the name or id of a table')
    const fieldsToMergeOn = [...new Set(inputs.match_fields.map((name) => name.trim()))].filter(Boolean)
    if (fieldsToMergeOn.length === 0 || fieldsToMergeOn.length > MAX_MATCH_FIELDS) {
      return unrunnable(`match_fields must name 1 to ${MAX_MATCH_FIELDS} fields`)
    }
    const values = readWireValues(inputs.values, inputs.ignore_empty_values)
    const missing = fieldsToMergeOn.find((name) => (values.get(name) ?? null) === null)
    if (missing !== undefined) {
      return unrunnable(`${missing} has no value in values, so there is no telling the record`)
    }
    const request = {
      method: 'PATCH',
      path: `/v0/${base}/${encodeURIComponent(table)}`,
      json: {
        performUpsert: { fieldsToMergeOn },
        records: [{ fields: Object.fromEntries(values) }],
        typecast: inputs.typecast,
      },
    } as const
    const { connection } = inputs
    const answer = await askProvider({ provider: airtable, connection, request, schema: Written }, context)
    if (!answer.ok) return answer.outcome
    const { records, createdRecords } = answer.body
    const id = records[0]?.id
    if (id === undefined) return failed('Airtable: no record was written')
    // The address of a page contains the id of a table, never its name.
    const url = /^tbl\w+$/.test(table) ? `https://airtable.com/${base}/${table}/${id}` : null
    return done({ id, url, created: createdRecords.includes(id) }, answer.provenance)
  },
})
