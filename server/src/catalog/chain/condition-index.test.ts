import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { evaluate, testValue } from './condition-evaluate.ts'
import { ConditionIndex, findRequiredText, textKey } from './condition-index.ts'
import { OPERATORS } from './condition-operators.ts'
import type { ConditionGroup } from './condition-shape.ts'
import { parseTemplate, resolveValue } from './references.ts'
import { createRowScope } from './row-scope.ts'

const NUMBERS = ['1', '1.0', '01', '1e0', '10e-1', '0', '-0', '0.00', '.5', '5e-1', '1e3', '1000', '-1']
const LONG = ['12345678901234567890', '12345678901234567891', '1e9999', '0.1e10000']
const TEXTS = ['', ' ', 'a', 'A', ' a', '+1', '1 ', 'null', '["a"]', 'n1 1 1', 't1', '{{input.a}}']
const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...NUMBERS, ...LONG, ...TEXTS) },
  fc.string({ maxLength: 3 }),
  fc.stringMatching(/^-?\d{0,3}(\.\d{0,3})?(e-?\d)?$/),
)

it('two texts share a key exactly if "is" holds between them', () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(textKey(a) === textKey(b)).toBe(testValue('is', a, [b]))
    }),
    { numRuns: 5000 },
  )
})

const definition = {
  inputs: ['a', 'b'].map((name, n) => ({ name, column: n + 1 })),
  actions: [{ id: 'find_1', action_id: 'find' }],
} as unknown as Parameters<typeof createRowScope>[0]
const variable = fc.constantFrom(
  '{{input.a}}',
  '{{input.b}}',
  '{{input.gone}}',
  '{{find_1.value}}',
  '{{find_1.value[0]}}',
  'x{{input.a}}',
  'literal',
)
const combinator = fc.constantFrom('AND' as const, 'OR' as const, undefined)
const leaf = fc
  .record({
    variable,
    operator: fc.oneof(fc.constant('is' as const), fc.constantFrom(...OPERATORS)),
    values: fc.array(text, { minLength: 1, maxLength: 2 }),
    combinator,
  })
  .filter(({ operator, values }) => operator !== 'is between' || values.length === 2)
const groups = fc.array(
  fc.record({ conditions: fc.array(leaf, { minLength: 1, maxLength: 3 }), combinator }),
  { maxLength: 3 },
)
const value = fc.oneof(
  text,
  fc.constant(null),
  fc.constantFrom(1, 1.5, true, ['a', '1.0'], [], {}, { a: 1 }, '["a","b"]'),
)
const row = fc.record({
  data: fc.record({ 1: value, 2: value }, { requiredKeys: [] }),
  output: fc.option(value),
})

function readerOf({ data, output }: { data: object; output: unknown }) {
  const cells = output === null ? null : JSON.stringify({ find_1: ['complete', { value: output }] })
  const { lookup } = createRowScope(definition, { data: JSON.stringify(data), cells }, () => true, new Map())
  return (given: string) => resolveValue(parseTemplate(given), lookup).value
}

it('the index finds all conditions that hold for a row, and each at most once', () => {
  let indexed = 0
  fc.assert(
    fc.property(fc.array(groups, { maxLength: 8 }), fc.array(row, { maxLength: 8 }), (all, rows) => {
      const index = new ConditionIndex<ConditionGroup[]>()
      for (const one of all) {
        const required = findRequiredText(one)
        if (required !== undefined) indexed += 1
        index.add(one, required)
      }
      for (const resolve of rows.map(readerOf)) {
        const holds = (one: ConditionGroup[]) => evaluate(one, resolve, { resolveValue: (given) => given })
        const found = [...index.find(resolve)]
        expect(new Set(found).size).toBe(found.length)
        expect(all.filter((one) => found.includes(one) && holds(one))).toEqual(all.filter(holds))
      }
    }),
    { numRuns: 1000 },
  )
  expect(indexed).toBeGreaterThan(300)
})

it.each<[string, ('AND' | 'OR' | undefined)[], number | undefined]>([
  ['the first of conditions joined by AND', [undefined, 'AND', undefined], 0],
  ['the first, whose own combinator counts for nothing', ['OR', 'AND', 'AND'], 0],
  ['what follows the last OR', [undefined, 'OR', 'AND'], 2],
  ['none where the last is joined by OR', [undefined, 'AND', 'OR'], undefined],
])('a text is required by %s', (_, combinators, place) => {
  const conditions = combinators.map((each, n) => ({
    variable: `{{input.${n}}}`,
    operator: 'is' as const,
    values: [`${n}.0`],
    combinator: each,
  }))
  const expected =
    place === undefined ? undefined : { variable: `{{input.${place}}}`, key: textKey(`${place}`) }
  expect(findRequiredText([{ conditions }])).toEqual(expected)
  const alone = conditions.map(({ combinator: joined, ...condition }) => ({
    conditions: [condition],
    combinator: joined,
  }))
  expect(findRequiredText(alone)).toEqual(expected)
})
