import { describe, expect, it } from 'vitest'
import { listTokens } from '../chain/reference-walk.ts'
import { useActions } from '../testing/run-action.ts'
import action from './format_data_using_js_expression.ts'

const runAction = useActions()
const row = {
  input: {
    name: 'ann',
    n: '12',
    evil: '"); while(1){} ("',
    brace: '`${1}` {{input.name}}',
    'who?.what': 'me',
  },
  outputs: { x_1: { items: [1, 2], person: { address: { city: 'Bern' } }, none: null, on: true, score: 7 } },
}
const format = (data_formatter: string) =>
  runAction('format_data_using_js_expression', { data_formatter }, { row })

describe('format_data_using_js_expression', () => {
  it.each([
    ['{{input.name}}.toUpperCase()', 'ANN'],
    ['({{x_1.items}} ?? []).length', '2'],
    ['({{x_1.none}} ?? []).length', '0'],
    ['"Hi {{input.name}}, {{x_1.items}}{{x_1.none}}"', 'Hi ann, [1,2]'],
    ['"Hi {{input.name}}".toUpperCase()', 'HI ANN'],
    ['`${{{input.name}}.length}: {{input.name}}`', '3: ann'],
    ['Number({{input.n}}) * 2', '24'],
    ['{{x_1.score}} + 1', '8'],
    ['{{x_1.on}} ? "yes" : "no"', 'yes'],
    ['{{x_1.items}}.map((n) => n * 2)', '[2,4]'],
    ['({ a: {{x_1.person}} })', '{"a":{"address":{"city":"Bern"}}}'],
    ['{{input.evil}}', row.input.evil],
    ['{{input.evil}} + "."', `${row.input.evil}.`],
    ['"{{input.evil}}"', row.input.evil],
    ["'{{input.evil}}'.length", String(row.input.evil.length)],
    ['`{{input.evil}}`', row.input.evil],
    ['`{{input.brace}}`', row.input.brace],
    ['{{input.brace}} + ""', row.input.brace],
    ['"plain"', 'plain'],
    ['null', ''],
    ['undefined', ''],
    ['{{x_1.none}}', ''],
  ])('%s is %j', async (expression, formatted_data) => {
    expect(await format(expression)).toEqual({ kind: 'done', outputs: { formatted_data } })
  })

  it.each([
    ['{{x_1.person}}?.address?.city', 'Bern'],
    ['{{x_1.person?.address?.city}}', 'Bern'],
    ['{{ x_1.person?.phone?.number }}', ''],
    ['{{x_1.items}}[1]', '2'],
    ['{{x_1.items}}.length', '2'],
    ['{{x_1.person}}', '{"address":{"city":"Bern"}}'],
    ['{{input.who?.what}}', 'me'],
  ])('%s, a plain token with optional chaining, is %j', async (expression, formatted_data) => {
    expect(await format(expression)).toEqual({ kind: 'done', outputs: { formatted_data } })
  })

  it('names a chain inside the braces by the output it begins with', () => {
    const references = action.inputs['data_formatter']?.references?.(
      '{{x_1.person?.address?.city}} + {{input.a?.b}}',
    )
    expect(listTokens(references).map(({ source }) => source)).toEqual(['{{x_1.person}}', '{{input.a?.b}}'])
  })

  it.each([
    ['{{x_1.none}}.trim()', "TypeError: cannot read property 'trim' of null"],
    ['{{x_1.none}}.length', "TypeError: cannot read property 'length' of null"],
    ['nobody', "ReferenceError: 'nobody' is not defined"],
    ['1 +', 'SyntaxError'],
    ['1; 2', 'SyntaxError'],
    ['(() => { for (;;) {} })()', 'the expression took more than 100 ms'],
  ])('%s has failed', async (expression, message) => {
    expect(await format(expression)).toEqual({ kind: 'failed', message: expect.stringContaining(message) })
  })

  it('cannot run with an unknown token, or one inside a regular expression', async () => {
    expect(await format('{{x_1.gone}} + 1')).toEqual({
      kind: 'unrunnable',
      message: '{{x_1.gone}} does not exist',
    })
    expect(await format('/{{input.name}}/.test("x")')).toMatchObject({ kind: 'unrunnable' })
  })
})
