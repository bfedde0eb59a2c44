import { describe, expect, it } from 'vitest'
import { checkOperators, dropEnvConditions } from './condition-check.ts'
import { type Operator, OPERATORS, operatorsFor } from './condition-operators.ts'
import type { ConditionGroup, ConditionLeaf } from './condition-shape.ts'

const any = ['is', 'is not', 'is empty', 'is not empty']
const text = [
  'contains',
  'does not contain',
  'starts with',
  'does not start with',
  'ends with',
  'does not end with',
]
const number = [
  'greater than',
  'less than',
  'greater than or equal to',
  'less than or equal to',
  'is between',
]
const date = ['is after', 'is before', 'is between']
const list = ['contains', 'does not contain']

describe('operators depend on the stored type of the variable', () => {
  it.each<[string | undefined, readonly string[]]>([
    ['string', [...text, ...date]],
    ['email', [...text, ...date]],
    ['url', [...text, ...date]],
    ['imageUrl', [...text, ...date]],
    ['number', [...number, ...date]],
    ['currency', [...number, ...date]],
    ['date', date],
    ['array', [...list, ...date]],
    ['structured_array', [...list, ...date]],
    ['raw_array', [...list, ...date]],
    ['json', [...list, ...date]],
    ['boolean', date],
    ['something new', OPERATORS],
    ['constructor', OPERATORS],
    [undefined, OPERATORS],
  ])('%s', (type, own) => {
    const expected = new Set<string>([...any, ...own])
    expect(new Set<string>(operatorsFor(type))).toEqual(expected)

    // Every other operator is an error (D60).
    for (const operator of OPERATORS) {
      const errors = checkOperators(one('{{input.x}}', operator), () => type, 'run_if.conditions')
      expect(errors.map(({ field }) => field)).toEqual(
        expected.has(operator) ? [] : ['run_if.conditions[0].conditions[0].operator'],
      )
    }
  })

  it('names every wrong operator with its path and the operators that fit', () => {
    const groups: ConditionGroup[] = [
      { conditions: [leaf('{{input.n}}', 'greater than'), leaf('{{input.s}}', 'greater than')] },
      { conditions: [leaf('{{x_1.flag}}', 'contains')] },
    ]
    const types: Record<string, string> = { n: 'number', s: 'string', flag: 'boolean' }
    expect(checkOperators(groups, (token) => ('name' in token ? types[token.name] : undefined), 'p')).toEqual(
      [
        {
          field: 'p[0].conditions[1].operator',
          message: `must be one of: ${[...any, ...text, ...date].join(', ')} (the variable is of type string)`,
        },
        {
          field: 'p[1].conditions[0].operator',
          message: `must be one of: ${[...any, ...date].join(', ')} (the variable is of type boolean)`,
        },
      ],
    )
  })

  it('accepts an operator that was saved for the same variable before its type was known (D87)', () => {
    const saved = one('{{x_1.when}}', 'greater than')
    expect(checkOperators(saved, () => 'string', 'p', saved)).toEqual([])
    expect(checkOperators(one('{{x_1.when}}', 'less than'), () => 'string', 'p', saved)).toHaveLength(1)
    expect(checkOperators(one('{{x_1.other}}', 'greater than'), () => 'string', 'p', saved)).toHaveLength(1)
  })

  it.each(['industry', '{{input.x}} {{input.y}}', '{{foo}}', '{{x_1.list.name}}'])(
    'D34: the type of %s is not known, so it accepts every operator',
    (variable) => {
      for (const operator of OPERATORS) {
        expect(checkOperators(one(variable, operator), () => 'boolean', 'p')).toEqual([])
      }
    },
  )
})

describe('environment variables cannot be used in conditions', () => {
  it('drops conditions that use them, reports which, and drops groups left empty', () => {
    const plain = leaf('{{input.a}}', 'is')
    const groups: ConditionGroup[] = [
      { conditions: [leaf('{{env.K}}', 'is'), { ...plain, combinator: 'OR' }] },
      { conditions: [leaf('{{input.a}}', 'is', ['x {{ env.K }}'])], combinator: 'OR' },
      { conditions: [plain, leaf('{{env.}}', 'is'), leaf('env.K', 'is')], combinator: 'AND' },
    ]
    expect(dropEnvConditions(groups, 'run_if.conditions')).toEqual({
      groups: [{ conditions: [{ ...plain, combinator: 'OR' }] }, groups[2]],
      dropped: ['run_if.conditions[0].conditions[0]', 'run_if.conditions[1].conditions[0]'],
    })
  })

  it('keeps other conditions', () => {
    const groups = one('{{input.a}}', 'is empty')
    expect(dropEnvConditions(groups, 'p')).toEqual({ groups, dropped: [] })
    expect(dropEnvConditions([], 'p')).toEqual({ groups: [], dropped: [] })
  })
})

function leaf(variable: string, operator: Operator, values = ['x']): ConditionLeaf {
  return { variable, operator, values }
}

function one(variable: string, operator: Operator): ConditionGroup[] {
  return [{ conditions: [leaf(variable, operator)] }]
}
