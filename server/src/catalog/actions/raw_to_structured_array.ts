import { inTurns } from '../../lib/timing/turns.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, failed } from '../outcome.ts'
import { output } from '../outputs.ts'
import { MAX_READ_VALUES, readList, toRecordsInSteps } from '../values/json-text.ts'

const NO_LIST = `array is not a JSON array, or is a text of more than ${MAX_READ_VALUES.toLocaleString('en-US')} values`

export default defineAction({
  id: 'raw_to_structured_array',
  name: 'JSON array to list',
  description: 'Turns a JSON array into a list with columns.',
  category: 'data',
  synonyms: ['parse json', 'convert', 'table', 'extract'],
  credits: 0,
  pure: true,
  inputs: {
    array: field.value({
      required: true,
      label: 'JSON array',
      help: 'The column that holds the array, also as text.',
      details: 'Items that are not objects get the one column `value`.',
    }),
  },
  outputs: { list: output.table('The items, with a column for each of their keys.') },
  dynamic: true,
  async run({ inputs }) {
    const list = readList(inputs.array)
    return list === null ? failed(NO_LIST) : done({ list: await inTurns(toRecordsInSteps(list)) })
  },
})
