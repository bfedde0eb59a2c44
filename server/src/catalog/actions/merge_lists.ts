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
  description: 'Puts lists together into one, and drops repeated items when they have a key column.',
  category: 'data',
  credits: 0,
  pure: true,
  inputs: {
    lists: field.values({ required: true, description: 'The lists, in order. Empty ones are passed over.' }),
    key_column: field.text({
      description: 'Items with the same value of this field are merged. Items without a value all stay.',
    }),
    keep: field.choice(['first', 'last'], {
      default: 'first',
      description:
        'Which of several items with the same key stays, in the place of the first. Default first.',
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
