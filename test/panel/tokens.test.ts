import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseTemplate } from '#server/catalog/chain/references.ts'
import { findInputPath, openText, readPath as readServerPath } from '#server/catalog/chain/value-path.ts'
import { faultOfExpression } from '#server/catalog/formula/syntax.ts'
import type { Row } from '../../dashboard/src/api/sheet.ts'
import { buildColumns } from '../../dashboard/src/screens/sheet/columns.ts'
import { printConditions } from '../../dashboard/src/screens/sheet/condition-words.ts'
import { cutFormula } from '../../dashboard/src/screens/sheet/panels/editor/formula-check.ts'
import { checkFormula } from '../../dashboard/src/screens/sheet/panels/editor/formula-check.ts'
import { findQuery } from '../../dashboard/src/screens/sheet/panels/editor/open-query.ts'
import {
  describeToken,
  listReferences,
  searchReferences,
  splitColumns,
} from '../../dashboard/src/screens/sheet/references.ts'
import { findTokens, readPath, splitInputPath } from '../../dashboard/src/screens/sheet/tokens.ts'

const word = fc.constantFrom(
  '{{',
  '}}',
  '{',
  '}',
  'input',
  '.',
  'a b',
  'env',
  'X1',
  ' ',
  'api_1',
  '[0]',
  '\n',
  'x..y',
  'É',
)
const text = fc.array(word, { maxLength: 14 }).map((words) => words.join(''))

it('H2: chips stand for exactly the tokens that the server reads', () => {
  fc.assert(
    fc.property(text, (text) => {
      const wanted = parseTemplate(text).flatMap((part) => (part.kind === 'token' ? [part.source] : []))
      expect(findTokens(text).map(({ from, to }) => text.slice(from, to))).toEqual(wanted)
    }),
  )
})

it('H2: the path behind the name of an input is read as the server reads it', () => {
  const path = fc
    .array(fc.constantFrom('a', '.', '[0]', '[x]', 'b.c', ' '), { maxLength: 6 })
    .map((parts) => parts.join(''))
  const isInput = (name: string) => name === 'a' || name === 'a.b.c' || name === 'b.c'
  fc.assert(
    fc.property(path, (path) => {
      expect(splitInputPath(path, isInput)).toEqual(findInputPath(path, isInput))
    }),
  )
  const value = { a: [{ b: 1 }, { b: [2] }], text: '{"c": 3}' }
  for (const steps of [['a', 0, 'b'], ['a', 'b'], ['a', 1, 'b', 0], ['none'], ['a', 9], ['text', 'c']]) {
    expect(readPath(value, steps)).toEqual(readServerPath(value, steps, openText))
  }
})

const output = (action: string, name: string, type = 'string' as const) => ({
  name,
  type,
  reference: `{{${action}.${name}}}`,
})
const columns = buildColumns(
  [{ name: 'First Name', type: 'string', description: '', reference: '{{input.First Name}}' }],
  [
    {
      action_instance_id: 'one_1',
      action_id: 'one',
      display_name: 'Domain',
      outputs: [output('one_1', 'domain')],
      next: [],
    },
    {
      action_instance_id: 'api_1',
      action_id: 'api',
      display_name: 'Lookup',
      outputs: [output('api_1', 'status')],
      next: [],
    },
    {
      action_instance_id: 'two_1',
      action_id: 'two',
      display_name: 'After',
      outputs: [output('two_1', 'x')],
      next: [],
    },
  ],
)
const row: Row = {
  row_id: 'r',
  row_status: 'complete',
  created_at: '',
  inputs: { 'First Name': 'Ada' },
  cells: {
    api_1: { status: 'complete', outputs: { status: '200', tech: ['react', { v: 'a.b' }], 'odd.key': 1 } },
  },
}
const sight = { ...splitColumns(columns, { action: 'two_1' }), row }

it.each([
  ['input.First Name', 'First Name, string, Ada', true],
  ['one_1.domain', 'Domain, string, empty', true],
  ['api_1.tech[0]', 'Lookup › tech › 0, string, react', true],
  ['api_1.nothing', 'Lookup › nothing, string, leads nowhere', false],
  ['two_1.x', 'After, unknown, leads nowhere', false],
  ['gone_1.x', 'gone_1.x, unknown, leads nowhere', false],
  ['input.Gone', 'input.Gone, unknown, leads nowhere', false],
  ['env.KEY', 'KEY, variable, set in Environment', true],
])('H2: the chip of %s is %s', (content, wanted, leads) => {
  const { label, type, sample, ...chip } = describeToken(content, sight)
  expect([`${label}, ${type}, ${sample}`, chip.leads]).toEqual([wanted, leads])
})

it('H2: columns are found by name, by value in the row, and by a path into an answer', () => {
  const all = listReferences(sight)
  const find = (typed: string) => searchReferences(all, typed).map(({ token }) => token)
  expect(find('first')).toEqual(['{{input.First Name}}'])
  expect(find('ada')).toEqual(['{{input.First Name}}'])
  expect(find('tech › 0')).toContain('{{api_1.tech[0]}}')
  expect(find('')).toEqual(expect.arrayContaining(['{{one_1.domain}}', '{{api_1.tech[1].v}}']))
  expect(find('after')).toEqual([])
  for (const { token } of all) expect(findTokens(token)).toHaveLength(1)
})

it.each([
  ['{{fi', 4, false, 'braces fi 0'],
  ['a {{b}} {{', 10, false, 'braces  8'],
  ['/dom', 4, false, 'slash dom 0'],
  ['Hello /dom', 10, false, 'slash dom 6'],
  ['https://a.example/dom', 21, false, null],
  ['https:/', 7, false, null],
  ['{{input.a}}/x', 13, false, 'slash x 11'],
  ['Num', 3, true, 'word Num 0'],
  ['{{input.a}}.tr', 14, true, 'word .tr 11'],
  ['{{input.a}}.', 12, true, 'word . 11'],
  ['"some te', 8, true, null],
  ['1 / dom', 3, true, null],
])('H2: before the caret in %j at %i stands %s', (text, caret, isFormula, wanted) => {
  const query = findQuery(text, caret, isFormula)
  expect(query === null ? null : `${query.kind} ${query.typed} ${query.from}`).toBe(wanted)
})

const FORMULAS = [
  '1 + 2',
  '({{input.a}} ?? "").trim()',
  '{{input.a}} === "x" ? 1 : -1',
  '[1, 2].map((x) => x * 2)',
  '(() => { const a = 1; return a })()',
  '`a ${b + `c ${1}`} d`',
  '/a[/]b/gi.test({{input.a}})',
  'new Date().getTime()',
  'typeof {{input.a}} === "string"',
  '{ ...{{input.a}}, b: 1 }',
  '"it\\"s" + \'x\'',
  '1 /* note */ + 2 // end',
  'a?.b ?? c?.[0]',
  'async () => await x',
  'function f(a) { return a }',
  '!{{input.a}}',
  '1_000n + 0x1f + .5e3',
  'String.raw`a`',
  'x => ({ y: x })',
]
it.each(FORMULAS)('H3: the formula %s has no fault for the server nor for the panel', (formula) => {
  expect(checkFormula(formula)).toBeNull()
  expect(faultOfExpression(formula)).toBeNull()
})

it.each([
  ['(1 + 2', '( is never closed'],
  ['1 + 2)', ') closes nothing'],
  ['[1, 2)', ') does not close ['],
  ['"abc', 'This text has no closing "'],
  ['1 +', 'Something is missing after +'],
  ['(1 + ) * 2', 'Something is missing before )'],
  ['{{input.a}} {{input.b}}', 'An operator is missing before {{input.b}}'],
  ['`open ${1', 'This text has no closing `'],
  ['1 ) (', ') closes nothing'],
  ['1 \\ 2', '\\ is not part of a formula'],
])('H3: the formula %s is underlined: %s', (formula, wanted) => {
  expect(checkFormula(formula)?.message).toBe(wanted)
  expect(faultOfExpression(formula)).not.toBeNull()
})

it('H3: whatever the panel underlines, the server refuses too', () => {
  const part = fc.constantFrom(
    '1',
    'a',
    '"s"',
    '+',
    '(',
    ')',
    '[',
    ']',
    '?',
    ':',
    ',',
    '=>',
    '.b',
    '{{input.a}}',
    '!',
    'typeof ',
    '`t`',
    '/',
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 9 }), (parts) => {
      const formula = parts.join(' ')
      if (checkFormula(formula) !== null) expect(faultOfExpression(formula), formula).not.toBeNull()
      expect(
        cutFormula(formula)
          .map(({ text }) => text.replaceAll(' ', ''))
          .join(''),
      ).toBe(formula.replaceAll(' ', ''))
    }),
    { numRuns: 2000 },
  )
})

it('H7: conditions are a sentence', () => {
  const leaf = (variable: string, operator: string, ...values: string[]) => ({
    variable,
    operator,
    values,
    combinator: 'AND' as const,
  })
  const groups = [
    {
      combinator: 'AND' as const,
      conditions: [
        leaf('{{input.First Name}}', 'is', 'Ada'),
        { ...leaf('{{one_1.domain}}', 'is not empty'), combinator: 'OR' as const },
      ],
    },
    {
      combinator: 'AND' as const,
      conditions: [leaf('{{api_1.status}}', 'greater than', '{{input.First Name}}')],
    },
  ]
  expect(printConditions(groups, sight)).toBe(
    '(First Name is "Ada" or Domain is not empty) and Lookup is greater than First Name',
  )
})
