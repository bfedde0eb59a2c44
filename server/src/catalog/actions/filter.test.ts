import { expect, it } from 'vitest'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()

const row = {
  input: { size: '120', city: 'Bern', empty: null, tricky: '{{input.size}}' },
  outputs: { x_1: { tags: ['a', 'b'], score: 7 } },
}
const leaf = (variable: string, operator: string, ...values: string[]) => ({ variable, operator, values })
const run = (...conditions: object[]) => runAction('filter', { path_conditions: [{ conditions }] }, { row })

it.each([
  ['a number above', [leaf('{{input.size}}', 'greater than', '100')], true],
  ['a number below', [leaf('{{input.size}}', 'less than', '100')], false],
  ['a token as value', [leaf('{{input.size}}', 'greater than', '{{x_1.score}}')], true],
  ['an empty value', [leaf('{{input.empty}}', 'is empty')], true],
  ['a list that contains', [leaf('{{x_1.tags}}', 'contains', 'b')], true],
  ['a list that does not', [leaf('{{x_1.tags}}', 'contains', 'ab')], false],
  ['row data that looks like a token', [leaf('{{input.tricky}}', 'is', '120')], false],
  [
    'two that must both hold',
    [leaf('{{input.city}}', 'is', 'Bern'), leaf('{{x_1.score}}', 'is', '8')],
    false,
  ],
])('filter with %s', async (_what, conditions, passes) => {
  expect(await run(...conditions)).toEqual(
    passes ? { kind: 'done', outputs: {} } : { kind: 'condition_not_met' },
  )
})

it('filter without conditions, or with an unknown token, cannot run', async () => {
  expect(await runAction('filter', {})).toMatchObject({ kind: 'unrunnable' })
  expect(await runAction('filter', { path_conditions: [] })).toMatchObject({ kind: 'unrunnable' })
  expect(await run(leaf('{{input.gone}}', 'is empty'))).toMatchObject({ kind: 'unrunnable' })
})

it('filter refuses an unknown operator (D32)', async () => {
  await expect(run(leaf('{{input.size}}', 'resembles', 'x'))).rejects.toThrow(
    'path_conditions[0].conditions[0].operator must be one of',
  )
})
