import { expect, it } from 'vitest'
import type { ActionInstance, Definition } from './definition.ts'
import { readsEarlierResults } from './earlier-results.ts'

const step = (id: string, value: string, more: Partial<ActionInstance> = {}): ActionInstance => ({
  id,
  action_id: 'any',
  display_name: id,
  inputs: { value },
  epoch: 0,
  ...more,
})
const chain = (...actions: ActionInstance[]): Definition => ({ inputs: [], actions })
const condition = (variable: string) => ({
  run_if: { conditions: [{ operator: 'is not empty', variable, values: [] }], combinator: 'and' },
})

it.each<[string, Definition, string[], boolean]>([
  ['inputs and variables alone', chain(step('a', '{{input.x}} {{env.KEY}}')), ['a'], false],
  [
    'what comes before it in the run',
    chain(step('a', ''), step('b', '{{a.x}} {{a.list.c}}')),
    ['a', 'b'],
    false,
  ],
  ['what is not in the run', chain(step('a', ''), step('b', '{{a.x}}')), ['b'], true],
  ['what comes after it', chain(step('a', '{{b.x}}'), step('b', '')), ['a', 'b'], true],
  ['itself', chain(step('a', '{{a.x}}')), ['a'], true],
  ['a column of a list, not in the run', chain(step('a', ''), step('b', '{{a.list.c}}')), ['b'], true],
  [
    'in a condition',
    chain(step('a', ''), step('b', '', condition('{{a.x}}') as unknown as Partial<ActionInstance>)),
    ['b'],
    true,
  ],
])('a run whose actions name %s', (_, definition, actions, reads) => {
  expect(readsEarlierResults(definition, actions)).toBe(reads)
})
