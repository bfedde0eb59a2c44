import { expect, it } from 'vitest'
import type { InputColumn, InputType } from '../../catalog/chain/definition.ts'
import { parseWithNumberTexts } from '../../lib/json/lossless-json.ts'
import { readDelivery } from './delivery.ts'
import { parseRows } from './intake.ts'

const inputs = (['string', 'number', 'email', 'url'] as const).map((type, column): InputColumn => ({
  column,
  name: type,
  type,
  description: '',
}))

const LONG = 'a'.repeat(1024 * 1024 - 10)

it.each<[InputType, unknown[], unknown[]]>([
  ['string', ['x', 1, { a: 1 }, true], []],
  ['number', [1, -2.5, '3', ' 4.5 ', '1e3', '12345678901234567890'], ['x', '1,000', true, [1], LONG]],
  [
    'email',
    ['ann@acme.com', ' Ann.Lee+x@mail.acme.co.uk'],
    ['ann', '@acme.com', 'a b@acme.com', 'a@b', 1, LONG],
  ],
  [
    'url',
    ['https://acme.com/about?x=1', 'acme.com', 'www.acme.com/a', 'http://localhost:3000', 'http://10.0.0.1'],
    ['acme', 'not a link', 'http://', 7, {}, LONG],
  ],
])(
  'D79: values of type %s that fit are not warned of, others are, and all are stored',
  async (type, fit, unfit) => {
    const rowsOf = (values: unknown[]) =>
      [...values, '', '  ', null].map((value) => parseWithNumberTexts(JSON.stringify({ [type]: value })))
    for (const value of fit) {
      expect([value, (await parseRows(inputs, rowsOf([value]))).warnings]).toEqual([value, []])
    }
    for (const value of unfit) {
      const { accepted, rejected, warnings } = await parseRows(inputs, rowsOf([value]))
      expect([accepted.length, rejected]).toEqual([4, []])
      expect(warnings).toMatchObject([{ field: `rows[0].${type}`, code: 'type_mismatch' }])
    }
  },
)

it('D79: one warning for each input, with a count and the first places', async () => {
  const rows = Array.from({ length: 1000 }, (_, n) => ({
    number: n % 2 === 0 ? n : `no ${n}`,
    string: `${n}`,
  }))
  const { accepted, warnings } = await parseRows(inputs, rows)
  expect(accepted).toHaveLength(1000)
  expect(warnings).toEqual([
    {
      field: 'rows[1].number',
      code: 'type_mismatch',
      message:
        "500 values don't look like numbers (stored as they are): rows[1], rows[3], rows[5], rows[7], rows[9], and 495 more",
    },
  ])
})

it('D79: a delivery to a webhook is warned of as well', async () => {
  const { data, warnings } = await readDelivery(inputs, [{ number: '1' }, { number: 'x', more: 1 }])
  expect(data).toEqual(['{"1":"1"}', '{"1":"x"}'])
  expect(warnings).toEqual([
    {
      field: 'body[1].number',
      code: 'type_mismatch',
      message: "1 value doesn't look like a number (stored as it is): body[1]",
    },
  ])
  expect((await readDelivery(inputs, { number: 'x' })).warnings).toMatchObject([{ field: 'body.number' }])
})

it('D28: so it is of values that are normalized, of keys that no input has it is not', async () => {
  const replaced = { code: 'value_normalized', message: expect.stringContaining('replaced by U+FFFD') }
  const { data, warnings } = await readDelivery(inputs, [
    { string: 'x\0y', more: '\0' },
    { string: 'z', more: '\uD800' },
  ])
  expect(data).toEqual(['{"0":"x\uFFFDy"}', '{"0":"z"}'])
  expect(warnings).toEqual([{ field: 'body[0].string', ...replaced }])
  expect((await readDelivery(inputs, { string: '\uD800' })).warnings).toEqual([
    { field: 'body.string', ...replaced },
  ])
})
