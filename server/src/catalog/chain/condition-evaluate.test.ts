import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { evaluate } from './condition-evaluate.ts'
import { type Operator, OPERATORS } from './condition-operators.ts'
import type { ConditionGroup, ConditionLeaf } from './condition-shape.ts'
import { parseTemplate, resolveValue } from './references.ts'

type Row = [operator: Operator, subject: unknown, values: string[], holds: boolean, type?: string]

const people = [
  { name: 'Ada', age: 36, tags: ['x'] },
  { name: 'Bob', age: null },
]

const rows: Row[] = [
  ['is', 'a', ['a'], true],
  ['is', 'a', ['A'], false],
  ['is', 'a', ['a '], false],
  ['is', '', [''], true],
  ['is', null, [''], true],
  ['is', undefined, [''], true],
  ['is', null, ['null'], false],
  ['is', '5', ['5.0'], true],
  ['is', 5, ['5'], true],
  ['is', 5, ['5e0'], true],
  ['is', '007', ['7'], true],
  ['is', '0', ['-0'], true],
  ['is', '0x10', ['16'], false],
  ['is', '', ['0'], false],
  ['is', ' ', ['0'], false],
  ['is', ' 5', ['5'], false],
  ['is', '+1555', ['1555'], false],
  ['is', '9007199254740993', ['9007199254740992'], false],
  ['is', true, ['true'], true, 'boolean'],
  ['is', false, ['true'], false, 'boolean'],
  ['is', true, ['1'], false],
  ['is', [1, 'a'], ['[1,"a"]'], true],
  ['is', { a: 1 }, ['{"a":1}'], true],
  ['is', '2024-01-01', ['2024-01-01T00:00:00Z'], false, 'date'],
  ['is not', 'a', ['b'], true],
  ['is not', 'a', ['a'], false],
  ['is not', 'a', ['A'], true],
  ['is not', '5', ['5.00'], false],
  ['is not', null, ['a'], true],
  ['is not', null, [''], false],
  ['is not', 'five', ['5'], true, 'number'],
  ['is not', [], ['[]'], false],

  ['is empty', null, [], true],
  ['is empty', undefined, [], true],
  ['is empty', '', [], true],
  ['is empty', [], [], true],
  ['is empty', {}, [], true],
  ['is empty', ' ', [], false],
  ['is empty', 0, [], false],
  ['is empty', '0', [], false],
  ['is empty', false, [], false],
  ['is empty', [null], [], false],
  ['is empty', { a: null }, [], false],
  ['is empty', '[]', [], false],
  ['is empty', '[]', [], true, 'raw_array'],
  ['is empty', '{}', [], true, 'json'],
  ['is empty', '[', [], false, 'json'],
  ['is empty', 'a', ['ignored'], false],
  ['is not empty', 'a', [], true],
  ['is not empty', ' ', [], true],
  ['is not empty', false, [], true],
  ['is not empty', [0], [], true],
  ['is not empty', null, [], false],
  ['is not empty', '', ['ignored'], false],
  ['is not empty', [], [], false],
  ['is not empty', {}, [], false],
  ['is not empty', '[]', [], false, 'structured_array'],

  ['contains', 'Head of Sales', ['sales'], true],
  ['contains', 'Head of Sales', ['HEAD'], true],
  ['contains', 'Head of Sales', ['marketing'], false],
  ['contains', 'ÉCOLE', ['école'], true],
  ['contains', 'a.c', ['.'], true],
  ['contains', 'abc', ['.'], false],
  ['contains', 'abc', [''], true],
  ['contains', null, ['a'], false],
  ['contains', null, [''], true],
  ['contains', 12345, ['234'], true],
  ['contains', ['a', 'b'], ['b'], true],
  ['contains', ['a', 'b'], ['B'], true],
  ['contains', ['ab'], ['a'], false],
  ['contains', [1, 2], ['2.0'], true],
  ['contains', [true], ['true'], true],
  ['contains', [null], [''], true],
  ['contains', [], [''], false],
  ['contains', [['a']], ['["a"]'], true],
  ['contains', people, ['Ada'], true, 'structured_array'],
  ['contains', people, ['36'], true, 'structured_array'],
  ['contains', people, ['["x"]'], true, 'structured_array'],
  ['contains', people, ['Ad'], false, 'structured_array'],
  ['contains', people, ['name'], false, 'structured_array'],
  ['contains', '["a","b"]', ['b'], true, 'array'],
  ['contains', '["ab"]', ['a'], false, 'raw_array'],
  ['contains', '["ab"]', ['a'], true, 'string'],
  ['contains', '["ab"]', ['a'], true],
  ['contains', ['ab'], ['a'], true, 'string'],
  ['contains', 'not json', ['JSON'], true, 'json'],
  ['contains', { industry: 'Software' }, ['software'], true, 'json'],
  ['contains', { industry: 'Software' }, ['"industry":'], true, 'json'],
  ['contains', { industry: 'Software' }, ['retail'], false, 'json'],
  ['contains', '{"a":"B"}', ['b'], true, 'json'],
  ['does not contain', 'Head of Sales', ['sales'], false],
  ['does not contain', 'Head of Sales', ['marketing'], true],
  ['does not contain', null, ['a'], true],
  ['does not contain', ['a'], ['a'], false],
  ['does not contain', ['ab'], ['a'], true],
  ['does not contain', [], ['a'], true],
  ['does not contain', people, ['Bob'], false, 'structured_array'],
  ['does not contain', { a: 1 }, ['b'], true, 'json'],

  ['starts with', 'https://x.io', ['HTTPS://'], true, 'url'],
  ['starts with', 'x.io', ['https://'], false, 'url'],
  ['starts with', 'abc', [''], true],
  ['starts with', null, ['a'], false],
  ['starts with', 123, ['12'], true],
  ['does not start with', 'https://x.io', ['HTTPS'], false],
  ['does not start with', 'x.io', ['https'], true],
  ['does not start with', null, ['a'], true],
  ['ends with', 'ada@X.io', ['@x.IO'], true, 'email'],
  ['ends with', 'ada@x.io', ['x.i'], false, 'email'],
  ['ends with', '', ['a'], false],
  ['does not end with', 'ada@x.io', ['.IO'], false, 'email'],
  ['does not end with', 'ada@x.io', ['.com'], true, 'email'],
  ['does not end with', null, ['.com'], true],

  ['greater than', '10', ['9'], true, 'number'],
  ['greater than', 10, ['9.5'], true, 'number'],
  ['greater than', '9', ['10'], false, 'number'],
  ['greater than', '9', ['9.0'], false, 'number'],
  ['greater than', '-1', ['-2'], true, 'currency'],
  ['greater than', '1e3', ['999'], true],
  ['greater than', '9007199254740993', ['9007199254740992'], true],
  ['greater than', 'ten', ['9'], false],
  ['greater than', '10', ['nine'], false],
  ['greater than', '1,000', ['9'], false],
  ['greater than', '$10', ['9'], false, 'currency'],
  ['greater than', null, ['-1'], false],
  ['greater than', '', ['-1'], false],
  ['greater than', [10], ['9'], false],
  ['greater than', '2024-01-02', ['2024-01-01'], false],
  ['less than', '9', ['10'], true],
  ['less than', '10', ['10'], false],
  ['less than', '0.1', ['0.2'], true],
  ['less than', 'x', ['10'], false],
  ['less than', null, ['10'], false],
  ['greater than or equal to', '10', ['10.0'], true],
  ['greater than or equal to', '9.99', ['10'], false],
  ['greater than or equal to', 'x', ['x'], false],
  ['less than or equal to', '10', ['10.0'], true],
  ['less than or equal to', '10.01', ['10'], false],
  ['less than or equal to', null, ['10'], false],

  ['is between', '5', ['1', '10'], true],
  ['is between', '1', ['1', '10'], true],
  ['is between', '10.0', ['1', '10'], true],
  ['is between', '0.99', ['1', '10'], false],
  ['is between', '11', ['1', '10'], false],
  ['is between', '5', ['10', '1'], false],
  ['is between', 'x', ['1', '10'], false],
  ['is between', '5', ['1', 'x'], false],
  ['is between', '5', ['x', '10'], false],
  ['is between', null, ['1', '10'], false],
  ['is between', '2024-01-15', ['2024-01-01', '2024-01-31'], true, 'date'],
  ['is between', '2024-01-01', ['2024-01-01', '2024-01-31'], true, 'date'],
  ['is between', '2024-01-31T00:00:00Z', ['2024-01-01', '2024-01-31'], true, 'date'],
  ['is between', '2024-01-31T00:00:01Z', ['2024-01-01', '2024-01-31'], false, 'date'],
  ['is between', '2024-01-15', ['2024-01-01', '2024-02-30'], false, 'date'],
  ['is between', '2024-01-15', ['1', '10'], false],

  ['is after', '2024-01-02', ['2024-01-01'], true, 'date'],
  ['is after', '2024-01-01', ['2024-01-01'], false, 'date'],
  ['is after', '2024-01-01T00:00:01', ['2024-01-01'], true, 'date'],
  ['is after', '2024-01-01T01:00:00+02:00', ['2024-01-01'], false, 'date'],
  ['is after', '2024-02-30', ['2024-01-01'], false, 'date'],
  ['is after', '2024-01-02', ['yesterday'], false, 'date'],
  ['is after', null, ['2024-01-01'], false, 'date'],
  ['is after', '5', ['4'], false],
  ['is before', '2023-12-31T23:59:59.999Z', ['2024-01-01'], true, 'date'],
  ['is before', '2024-01-01', ['2024-01-01T00:00:00Z'], false, 'date'],
  ['is before', '2024-01-01T01:00:00+02:00', ['2024-01-01'], true, 'date'],
  ['is before', 'never', ['2024-01-01'], false, 'date'],
  ['is before', '', ['2024-01-01'], false, 'date'],
]

const one = (operator: Operator, values: string[]): ConditionGroup[] => [
  { conditions: [{ variable: '{{input.x}}', operator, values }] },
]

describe('every operator', () => {
  it.each(rows)('%s: %j with %j is %s (type %s)', (operator, subject, values, holds, type) => {
    const resolve = (text: string) => (text === '{{input.x}}' ? subject : text)
    expect(evaluate(one(operator, values), resolve, { typeOf: () => type })).toBe(holds)
  })

  it('has rows that hold and rows that do not hold', () => {
    for (const operator of OPERATORS) {
      const outcomes = new Set(rows.filter((row) => row[0] === operator).map((row) => row[3]))
      expect([operator, outcomes.size]).toEqual([operator, 2])
    }
  })
})

describe('tokens', () => {
  const row: Record<string, unknown> = {
    x: 'Ada',
    same: 'Ada',
    low: 1,
    high: '9',
    mid: 5,
    braces: '{{input.x}}',
  }
  const resolve = (text: string) =>
    resolveValue(parseTemplate(text), (token) =>
      token.kind === 'input' ? { found: true, value: row[token.name] } : { found: false },
    ).value

  it.each<[string, Operator, string[], boolean]>([
    ['{{input.x}}', 'is', ['{{input.same}}'], true],
    ['{{input.x}}', 'is', ['{{input.mid}}'], false],
    ['{{input.mid}}', 'is between', ['{{input.low}}', '{{input.high}}'], true],
    ['{{input.x}}', 'starts with', ['{{input.missing}}'], true],
    ['{{input.x}} {{input.mid}}', 'is', ['Ada 5'], true],
    ['{{input.braces}}', 'is', ['Ada'], false],
    ['Ada', 'is', ['{{input.braces}}'], false],
  ])('%s %s %j', (variable, operator, values, holds) => {
    expect(evaluate([{ conditions: [{ variable, operator, values }] }], resolve)).toBe(holds)
  })

  it('D62: a variable may be a plain field name, while values stay what they are', () => {
    const entity: Record<string, unknown> = { industry: 'software', software: 'nothing' }
    const groups: ConditionGroup[] = [
      { conditions: [{ variable: 'industry', operator: 'is', values: ['software'] }] },
    ]
    expect(evaluate(groups, (field) => entity[field], { resolveValue: (text) => text })).toBe(true)
  })

  it('D33: resolves every variable and value, also when the outcome is clear', () => {
    const seen: string[] = []
    const leaf = (variable: string, combinator: 'AND' | 'OR'): ConditionLeaf => ({
      variable,
      operator: 'is',
      values: [`value of ${variable}`],
      combinator,
    })
    const groups: ConditionGroup[] = [
      { conditions: [leaf('a', 'AND'), leaf('b', 'AND')] },
      { conditions: [leaf('c', 'OR')], combinator: 'AND' },
    ]
    evaluate(groups, (text) => seen.push(text))
    expect(seen).toEqual(['a', 'value of a', 'b', 'value of b', 'c', 'value of c'])
  })

  it('a column is a list for items of any type', () => {
    const groups: ConditionGroup[] = [
      { conditions: [{ variable: '{{x_1.list.name}}', operator: 'contains', values: ['Ad'] }] },
    ]
    expect(
      evaluate(groups, (text) => (text.startsWith('{{') ? ['Ada'] : text), { typeOf: () => 'string' }),
    ).toBe(false)
  })
})

describe('combinators', () => {
  type Combinator = 'AND' | 'OR' | undefined
  const leaf = (holds: boolean, combinator?: Combinator): ConditionLeaf => ({
    variable: String(holds),
    operator: 'is',
    values: ['true'],
    ...(combinator && { combinator }),
  })
  const holds = (groups: ConditionGroup[]) => evaluate(groups, (text) => text)

  it('no conditions hold', () => {
    expect(holds([])).toBe(true)
  })

  it.each<[string, [boolean, Combinator?][], boolean]>([
    ['an omitted combinator is AND', [[true], [false]], false],
    ['the first combinator is ignored', [[false, 'OR']], false],
    ['OR then AND: (true OR true) AND false', [[true], [true, 'OR'], [false, 'AND']], false],
    ['AND then OR: (false AND false) OR true', [[false], [false, 'AND'], [true, 'OR']], true],
    ['OR OR AND AND', [[false], [true, 'OR'], [true, 'AND'], [true, 'AND']], true],
  ])('D34: %s, among leaves and among groups', (_, steps, expected) => {
    expect(holds([{ conditions: steps.map(([value, combinator]) => leaf(value, combinator)) }])).toBe(
      expected,
    )
    const groups = steps.map(([value, combinator]) => ({
      conditions: [leaf(value)],
      ...(combinator && { combinator }),
    }))
    expect(holds(groups)).toBe(expected)
  })

  it('combines as a plain loop does', () => {
    const combinator = fc.constantFrom<Combinator>('AND', 'OR', undefined)
    const step = fc.record({ value: fc.boolean(), combinator })
    const group = fc.record({ steps: fc.array(step, { minLength: 1, maxLength: 5 }), combinator })
    fc.assert(
      fc.property(fc.array(group, { maxLength: 5 }), (groups) => {
        let outer = true
        for (const [g, { steps, combinator }] of groups.entries()) {
          let inner = true
          for (const [s, { value, combinator }] of steps.entries()) {
            if (s === 0) inner = value
            else if (combinator === 'OR') inner ||= value
            else inner &&= value
          }
          if (g === 0) outer = inner
          else if (combinator === 'OR') outer ||= inner
          else outer &&= inner
        }
        const conditions = groups.map(({ steps, combinator }) => ({
          conditions: steps.map(({ value, combinator }) => leaf(value, combinator)),
          ...(combinator && { combinator }),
        }))
        expect(holds(conditions)).toBe(outer)
      }),
      { numRuns: 2000 },
    )
  })
})

it('never throws for any value and operator', () => {
  const values = fc.array(fc.string(), { maxLength: 3 })
  const types = fc.constantFrom('string', 'number', 'date', 'json', 'boolean', 'odd', undefined)
  fc.assert(
    fc.property(
      fc.constantFrom(...OPERATORS),
      fc.jsonValue(),
      values,
      types,
      (operator, subject, values, type) => {
        const resolve = (text: string) => (text === '{{input.x}}' ? subject : text)
        expect(evaluate(one(operator, values), resolve, { typeOf: () => type })).toBeTypeOf('boolean')
      },
    ),
    { numRuns: 5000 },
  )
})
