import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, failed } from '../outcome.ts'
import { output } from '../outputs.ts'
import { readList, toRecords } from '../values/json-text.ts'
import { nameColumns } from '../values/output-names.ts'

export default defineAction({
  id: 'raw_to_structured_array',
  name: 'JSON array to list',
  description: 'Turns a JSON array into a list with columns.',
  category: 'data',
  credits: 0,
  pure: true,
  inputs: {
    array: field.value({
      required: true,
      label: 'JSON array',
      help: 'A JSON array, or text that holds one.',
      details: 'Items that are not objects get the one column `value`.',
    }),
  },
  outputs: { list: output.table('The items, with a column for each of their keys.') },
  dynamic: true,
  run({ inputs }) {
    const list = readList(inputs.array)
    return list === null ? failed('array is not a JSON array') : done({ list: toRecords(nameColumns(list)) })
  },
})
