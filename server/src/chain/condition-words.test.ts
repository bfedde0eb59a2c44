import { expect, it } from 'vitest'
import type { ConditionGroup, ConditionLeaf } from './condition-shape.ts'
import { explain } from './condition-words.ts'

const a: ConditionLeaf = { variable: '{{input.domain}}', operator: 'is not empty' }
const b: ConditionLeaf = { variable: '{{x_1.y}}', operator: 'greater than', values: ['5'] }
const c: ConditionLeaf = { variable: '{{x_1.z}}', operator: 'is', values: ['Head of "Sales"'] }
const and = (leaf: ConditionLeaf): ConditionLeaf => ({ ...leaf, combinator: 'AND' })
const or = (leaf: ConditionLeaf): ConditionLeaf => ({ ...leaf, combinator: 'OR' })
const [A, B, C] = [
  '{{input.domain}} is not empty',
  '{{x_1.y}} greater than 5',
  '{{x_1.z}} is "Head of \\"Sales\\""',
]

it.each<[ConditionGroup[], string]>([
  [[], 'always'],
  [[{ conditions: [a] }], A],
  [[{ conditions: [{ ...a, values: ['ignored'] }] }], A],
  [[{ conditions: [or(c)], combinator: 'OR' }], C],
  [[{ conditions: [a, b] }], `${A} AND ${B}`],
  [[{ conditions: [a, or(b)] }], `${A} OR ${B}`],
  [[{ conditions: [a, or(b), and(c)] }], `(${A} OR ${B}) AND ${C}`],
  [[{ conditions: [a, and(b), or(c)] }], `(${A} AND ${B}) OR ${C}`],
  [[{ conditions: [a, or(b), and(c), or(a)] }], `((${A} OR ${B}) AND ${C}) OR ${A}`],
  [[{ conditions: [a] }, { conditions: [b, or(c)] }], `${A} AND (${B} OR ${C})`],
  [[{ conditions: [a, or(b)] }, { conditions: [c], combinator: 'AND' }], `(${A} OR ${B}) AND ${C}`],
  [[{ conditions: [a, b] }, { conditions: [b, c], combinator: 'OR' }], `(${A} AND ${B}) OR (${B} AND ${C})`],
  [[{ conditions: [a, b] }, { conditions: [c] }], `${A} AND ${B} AND ${C}`],
  [
    [{ conditions: [{ variable: '{{input.n}}', operator: 'is between', values: ['1', '{{input.max}}'] }] }],
    '{{input.n}} is between 1 and {{input.max}}',
  ],
  [[{ conditions: [{ variable: 'industry', operator: 'is', values: [''] }] }], 'industry is ""'],
])('conditions %# are explained in words', (groups, words) => {
  expect(explain(groups)).toBe(words)
})
