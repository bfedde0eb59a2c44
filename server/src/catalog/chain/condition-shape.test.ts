import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { NumberText } from '#contract/number-text.ts'
import { OPERATORS, valuesNeeded } from './condition-operators.ts'
import { type ConditionGroup, parseConditionGroups, parseRunIf, RunIf } from './condition-shape.ts'

const leaf = { variable: '{{input.domain}}', operator: 'is', values: ['x.io'] }
const nested = (...conditions: unknown[]) => ({ conditions: [{ conditions }] })
const anyOperator = `must be one of: ${OPERATORS.join(', ')}`
const continues = 'continue_workflow_if_run_condition_not_met'

function errorsOf(raw: unknown): string[] {
  const parsed = parseRunIf(raw)
  return parsed.ok ? [] : parsed.errors.map(({ field, message }) => `${field}: ${message}`)
}

describe('parseRunIf', () => {
  it.each<[string, unknown, unknown]>([
    ['one group with one leaf', nested(leaf), nested(leaf)],
    ['no values for is empty', nested({ ...leaf, operator: 'is empty', values: undefined }), undefined],
    ['the continue flag', { ...nested(leaf), [continues]: true }, { ...nested(leaf), [continues]: true }],
    [
      'numbers and booleans, as text',
      nested({ ...leaf, values: [5] }, { ...leaf, values: [true] }, { ...leaf, values: [1e21] }),
      nested({ ...leaf, values: ['5'] }, { ...leaf, values: ['true'] }, { ...leaf, values: ['1e+21'] }),
    ],
    [
      'combinators in any case',
      { conditions: [{ conditions: [leaf, { ...leaf, combinator: 'or' }], combinator: 'And' }] },
      { conditions: [{ conditions: [leaf, { ...leaf, combinator: 'OR' }], combinator: 'AND' }] },
    ],
    ['two values for is between', nested({ ...leaf, operator: 'is between', values: [1, '2'] }), undefined],
    ['a plain name as variable', nested({ ...leaf, variable: 'industry' }), undefined],
  ])('accepts %s', (_, raw, value) => {
    const parsed = parseRunIf(raw)
    expect(parsed).toMatchObject({ ok: true, deprecated: false })
    if (value !== undefined) expect(parsed).toEqual({ ok: true, value, deprecated: false })
  })

  it('`{}` is accepted as a no-op', () => {
    expect(parseRunIf({})).toEqual({ ok: true, value: null, deprecated: false })
  })

  it.each([
    ['a bare leaf', leaf, nested(leaf)],
    [
      'a leaf without values',
      { variable: 'x', operator: 'is empty' },
      nested({ variable: 'x', operator: 'is empty' }),
    ],
    ['the flag beside it', { ...leaf, [continues]: false }, { ...nested(leaf), [continues]: false }],
    ['a number to coerce', { ...leaf, values: [3] }, nested({ ...leaf, values: ['3'] })],
  ])('D60: the flat form is normalised and reported as deprecated: %s', (_, raw, value) => {
    expect(parseRunIf(raw)).toEqual({ ok: true, value, deprecated: true })
  })

  const at = 'run_if.conditions[0].conditions[0]'
  it.each<[string, unknown, string[]]>([
    ['null', null, ['run_if: must be an object']],
    ['text', 'x', ['run_if: must be an object']],
    ['an array', [], ['run_if: must be an object']],
    ['only the flag', { [continues]: true }, ['run_if.conditions: required']],
    ['only an unknown key', { foo: 1 }, ['run_if.conditions: required']],
    [
      'a key of a leaf in its group',
      { conditions: [{ conditions: [leaf], values: [] }] },
      ['run_if.conditions[0].values: not accepted'],
    ],
    ['conditions that are no array', { conditions: leaf }, ['run_if.conditions: must be an array']],
    ['no group', { conditions: [] }, ['run_if.conditions: must hold at least one condition group']],
    ['a group that is no object', { conditions: [3] }, ['run_if.conditions[0]: must be an object']],
    [
      'a leaf for a group',
      { conditions: [leaf] },
      [
        'run_if.conditions[0].conditions: required',
        'run_if.conditions[0].variable: not accepted',
        'run_if.conditions[0].operator: not accepted',
        'run_if.conditions[0].values: not accepted',
      ],
    ],
    ['an empty group', nested(), ['run_if.conditions[0].conditions: must hold at least one condition']],
    ['a leaf that is no object', nested('x'), [`${at}: must be an object`]],
    ['no variable', nested({ ...leaf, variable: undefined }), [`${at}.variable: required`]],
    ['a blank variable', nested({ ...leaf, variable: ' ' }), [`${at}.variable: required`]],
    ['a number for a variable', nested({ ...leaf, variable: 3 }), [`${at}.variable: must be a string`]],
    ['no operator', nested({ ...leaf, operator: undefined }), [`${at}.operator: required`]],
    ['an unknown operator', nested({ ...leaf, operator: 'equals' }), [`${at}.operator: ${anyOperator}`]],
    ['an operator in capitals', nested({ ...leaf, operator: 'IS' }), [`${at}.operator: ${anyOperator}`]],
    [
      'an inherited name as operator',
      nested({ ...leaf, operator: 'toString' }),
      [`${at}.operator: ${anyOperator}`],
    ],
    ['no values', nested({ ...leaf, values: undefined }), [`${at}.values: required`]],
    ['values that are no array', nested({ ...leaf, values: 'x' }), [`${at}.values: must be an array`]],
    ['null for values', nested({ ...leaf, values: null }), [`${at}.values: must be an array`]],
    ['zero values', nested({ ...leaf, values: [] }), [`${at}.values: must hold exactly one value`]],
    ['two values', nested({ ...leaf, values: ['a', 'b'] }), [`${at}.values: must hold exactly one value`]],
    [
      'one value for is between',
      nested({ ...leaf, operator: 'is between' }),
      [`${at}.values: must hold exactly two values`],
    ],
    [
      'a null value',
      nested({ ...leaf, values: [null] }),
      [`${at}.values[0]: must be a string, number or boolean`],
    ],
    [
      'an object value',
      nested({ ...leaf, values: [{}] }),
      [`${at}.values[0]: must be a string, number or boolean`],
    ],
    [
      'wrong values for is empty',
      nested({ ...leaf, operator: 'is empty', values: 3 }),
      [`${at}.values: must be an array`],
    ],
    [
      'an unknown combinator',
      nested({ ...leaf, combinator: 'XOR' }),
      [`${at}.combinator: must be AND or OR`],
    ],
    ['a null combinator', nested({ ...leaf, combinator: null }), [`${at}.combinator: must be AND or OR`]],
    [
      'an unknown combinator of a group',
      { conditions: [{ conditions: [leaf], combinator: 'not' }] },
      ['run_if.conditions[0].combinator: must be AND or OR'],
    ],
    [
      'another word for values',
      nested({ ...leaf, values: undefined, value: 'x' }),
      [`${at}.values: required`],
    ],
    [
      'a flag that is no boolean',
      { ...nested(leaf), [continues]: 'true' },
      [`run_if.${continues}: must be true or false`],
    ],
    ['a flat form without its operator', { variable: 'x' }, ['run_if.operator: required']],
    [
      'a flat form with too much',
      { ...leaf, values: [], foo: 1, [continues]: 1 },
      ['run_if.values: must hold exactly one value', `run_if.${continues}: must be true or false`],
    ],
    [
      'flat beside nested',
      { ...nested(leaf), ...leaf },
      ['run_if.variable: not accepted', 'run_if.operator: not accepted', 'run_if.values: not accepted'],
    ],
  ])('D32: %s is an error', (_, raw, errors) => {
    expect(errorsOf(raw)).toEqual(errors)
  })

  it.each<[string, unknown, string[]]>([
    ['beside the groups', { ...nested(leaf), foo: 1 }, ['run_if.foo']],
    ['in a group', { conditions: [{ conditions: [leaf], foo: 1 }] }, ['run_if.conditions[0].foo']],
    ['in a leaf', nested({ ...leaf, foo: 1, bar: {} }), [`${at}.foo`, `${at}.bar`]],
    ['in a flat form', { ...leaf, foo: 1 }, ['run_if.foo']],
  ])('D32: a field that conditions do not have is ignored with unknown_field: %s', (_, raw, fields) => {
    const parsed = parseRunIf(raw)
    expect(parsed).toMatchObject({
      ok: true,
      warnings: fields.map((field) => ({ field, code: 'unknown_field' })),
    })
    expect(parsed.ok && parsed.value).toEqual(nested(leaf))
  })

  it('reports every failure at once, with its path', () => {
    const raw = {
      conditions: [
        { conditions: [leaf, { operator: 'is between', values: ['1'], combinator: 'X' }] },
        { conditions: [{ variable: 7, operator: 'like', extra: true }], combinator: 5 },
      ],
      [continues]: 'no',
    }
    expect(errorsOf(raw)).toEqual([
      'run_if.conditions[0].conditions[1].variable: required',
      'run_if.conditions[0].conditions[1].combinator: must be AND or OR',
      'run_if.conditions[0].conditions[1].values: must hold exactly two values',
      'run_if.conditions[1].conditions[0].variable: must be a string',
      `run_if.conditions[1].conditions[0].operator: ${anyOperator}`,
      'run_if.conditions[1].combinator: must be AND or OR',
      `run_if.${continues}: must be true or false`,
    ])
  })
})

describe('parseConditionGroups', () => {
  it('reads an array of groups, which may be empty', () => {
    const groups = nested(leaf).conditions
    expect(parseConditionGroups(groups, 'inputs.path_conditions')).toEqual({ ok: true, value: groups })
    expect(parseConditionGroups([], 'inputs.path_conditions')).toEqual({ ok: true, value: [] })
  })

  it.each([
    [nested(leaf), 'inputs.conditions: must be an array'],
    [undefined, 'inputs.conditions: required'],
    [[leaf], 'inputs.conditions[0].conditions: required'],
    [
      [{ conditions: [{ ...leaf, operator: 'x' }] }],
      `inputs.conditions[0].conditions[0].operator: ${anyOperator}`,
    ],
  ])('names the field in its errors: %j', (raw, first) => {
    const parsed = parseConditionGroups(raw, 'inputs.conditions')
    const [error] = parsed.ok ? [] : parsed.errors
    expect(`${error?.field}: ${error?.message}`).toBe(first)
  })
})

const combinator = fc.constantFrom('AND' as const, 'OR' as const)
const canonicalLeaf = fc.constantFrom(...OPERATORS).chain((operator) => {
  const count = valuesNeeded(operator)
  const values = fc.array(fc.string(), { minLength: count, maxLength: count })
  return fc.record(
    { variable: fc.string().map((text) => `x${text}`), operator: fc.constant(operator), values, combinator },
    {
      requiredKeys: count === 0 ? ['variable', 'operator'] : ['variable', 'operator', 'values'],
      noNullPrototype: true,
    },
  )
})
const canonicalGroup: fc.Arbitrary<ConditionGroup> = fc.record(
  { conditions: fc.array(canonicalLeaf, { minLength: 1, maxLength: 4 }), combinator },
  { requiredKeys: ['conditions'], noNullPrototype: true },
)
const canonical = fc.record(
  { conditions: fc.array(canonicalGroup, { minLength: 1, maxLength: 4 }), [continues]: fc.boolean() },
  { requiredKeys: ['conditions'], noNullPrototype: true },
)

describe('properties', () => {
  it('parse(print(x)) = x for every normalised condition', () => {
    fc.assert(
      fc.property(canonical, (value) => {
        expect(parseRunIf(JSON.parse(JSON.stringify(value)))).toStrictEqual({
          ok: true,
          value,
          deprecated: false,
        })
      }),
    )
  })

  it('any other value is an error or a value that stays the same when read again', () => {
    const odd = fc.oneof(fc.jsonValue(), fc.constantFrom('and', 'OR', 'is', 'is empty', 'is between', 'x'))
    const oddLeaf = fc.record(
      { variable: odd, operator: odd, values: fc.array(odd), combinator: odd },
      { requiredKeys: [] },
    )
    const oddGroup = fc.oneof(odd, fc.record({ conditions: fc.array(fc.oneof(oddLeaf, canonicalLeaf)) }))
    const raw = fc.oneof(
      odd,
      oddLeaf,
      canonicalLeaf,
      fc.record({ conditions: fc.array(oddGroup, { maxLength: 2 }) }),
    )
    fc.assert(
      fc.property(raw, (raw) => {
        const parsed = parseRunIf(raw)
        if (!parsed.ok) expect(parsed.errors.length).toBeGreaterThan(0)
        else if (parsed.value)
          expect(parseRunIf(parsed.value)).toMatchObject({ ok: true, value: parsed.value })
      }),
      { numRuns: 1000 },
    )
  })

  it('the schema can be printed for both directions', () => {
    for (const io of ['input', 'output'] as const)
      expect(z.toJSONSchema(RunIf, { io })).toHaveProperty('properties.conditions')
  })
})

it('D28, D32: a number keeps its digits next to an ignored field', () => {
  const leaf = {
    variable: '{{input.n}}',
    operator: 'is',
    values: [new NumberText('12345678901234567890')],
    foo: 1,
  }
  expect(parseRunIf({ conditions: [{ conditions: [leaf] }] })).toMatchObject({
    ok: true,
    value: { conditions: [{ conditions: [{ values: ['12345678901234567890'] }] }] },
    warnings: [{ code: 'unknown_field' }],
  })
})
