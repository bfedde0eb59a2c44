import { inTurns, type Steps } from '../../lib/timing/turns.ts'
import { textOf } from '../chain/references.ts'
import { defineAction } from '../define.ts'
import { field } from '../fields/fields.ts'
import { done, failed } from '../outcome.ts'
import { output } from '../outputs.ts'
import { readList, toRecordsInSteps } from '../values/json-text.ts'

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
  async run({ inputs: { lists, key_column, keep } }) {
    const given = lists.filter((list) => list !== null && list !== '')
    const read = given.map(readList)
    const wrong = read.indexOf(null)
    if (wrong >= 0) return failed(`${textOf(given[wrong]).slice(0, 100)} is not a list`)
    const items = await inTurns(toRecordsInSteps(read.flatMap((list) => list ?? [])))
    const list =
      key_column === undefined ? items : await inTurns(mergeByKey(items, key_column, keep ?? 'first'))
    return done({ count: list.length, list })
  },
})

type Item = Record<string, unknown>

/** The number of items that are compared in one step. */
const ITEMS = 500

function* mergeByKey(items: Item[], column: string, keep: 'first' | 'last'): Steps<Item[]> {
  const kept = new Map<unknown, Item>()
  for (const [n, item] of items.entries()) {
    const text = Object.hasOwn(item, column) ? textOf(item[column]) : ''
    const key = text === '' ? Symbol('no key') : text
    if (keep === 'last' || !kept.has(key)) kept.set(key, item)
    if (n % ITEMS === 0) yield
  }
  return [...kept.values()]
}
