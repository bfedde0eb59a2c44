import { textOf } from '../chain/references.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, failed } from '../outcome.ts'
import { output } from '../outputs.ts'
import { readList, toRecords } from '../values/json-text.ts'
import { nameColumns } from '../values/output-names.ts'

export default defineAction({
  id: 'merge_lists',
  name: 'Merge lists',
  description: 'Joins lists into one and removes duplicates by a key column.',
  category: 'data',
  synonyms: ['combine', 'concatenate', 'union', 'join', 'duplicates'],
  credits: 0,
  pure: true,
  inputs: {
    lists: field.values({
      required: true,
      label: 'Lists',
      help: 'The lists to join, in this order. Empty lists are skipped.',
      kind: 'columns',
    }),
    key_column: field.text({
      label: 'Key column',
      help: 'Items with the same value here are duplicates. Items without one all stay.',
      placeholder: 'email',
    }),
    keep: field.choice(['first', 'last'], {
      default: 'first',
      label: 'Which duplicate to keep',
      help: 'The first or the last item with the same key.',
      details: 'It stands in the place of the first. Default first.',
      advanced: true,
    }),
  },
  outputs: {
    count: output.number('The number of items in the list.'),
    list: output.table('The items of all lists.'),
  },
  run({ inputs: { lists, key_column, keep } }) {
    const given = lists.filter((list) => list !== null && list !== '')
    const read = given.map(readList)
    const wrong = read.indexOf(null)
    if (wrong >= 0) return failed(`${textOf(given[wrong]).slice(0, 100)} is not a list`)
    const items = toRecords(nameColumns(read.flatMap((list) => list ?? [])))
    const list = key_column === undefined ? items : mergeByKey(items, key_column, keep ?? 'first')
    return done({ count: list.length, list })
  },
})

function mergeByKey(items: Record<string, unknown>[], column: string, keep: 'first' | 'last') {
  const kept = new Map<unknown, Record<string, unknown>>()
  for (const item of items) {
    const text = Object.hasOwn(item, column) ? textOf(item[column]) : ''
    const key = text === '' ? Symbol('no key') : text
    if (keep === 'last' || !kept.has(key)) kept.set(key, item)
  }
  return [...kept.values()]
}
