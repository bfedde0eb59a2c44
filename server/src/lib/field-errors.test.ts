import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fieldErrors, parseInWords } from './field-errors.ts'

const faultsOf = (schema: z.ZodType, value: unknown) =>
  parseInWords(schema, value).error?.issues.flatMap((issue) => fieldErrors(issue, value, 'body')) ?? []

const messageOf = (schema: z.ZodType, value: unknown) =>
  faultsOf(z.object({ a: schema }), { a: value }).map(({ message }) => message)

describe('every error names the field and what to do', () => {
  it.each<[z.ZodType, unknown, string]>([
    [z.string(), 1, 'must be a string'],
    [z.int(), 1.5, 'must be a whole number'],
    [z.boolean(), 'yes', 'must be true or false'],
    [z.array(z.string()), {}, 'must be an array'],
    [z.record(z.string(), z.string()), [], 'must be an object'],
    [z.bigint(), 1, 'must be of type bigint'],
    [z.literal('a'), 'b', 'must be a'],
    [z.enum(['a', 'b']), 'c', 'must be one of: a, b'],
    [z.guid(), 'x', 'must be a UUID'],
    [z.iso.date(), '31.1.2030', 'must be a date in the form YYYY-MM-DD'],
    [z.string().min(1), '', 'must be non-empty'],
    [z.string().min(2), 'x', 'must be at least 2 characters'],
    [z.array(z.int()).max(1), [1, 2], 'must be at most 1 items'],
    [z.number().max(1000), 1001, 'must be at most 1000'],
    [z.number().multipleOf(5), 7, 'must be a multiple of 5'],
    [z.union([z.string(), z.number()]), true, 'has a shape that is not accepted'],
    [z.string(), undefined, 'required'],
  ])('%#: %s', (schema, value, message) => {
    expect(messageOf(schema, value)).toEqual([message])
  })

  it.each<[string, (words: string) => z.ZodType, unknown]>([
    ['a type', (words) => z.string(words), 1],
    ['a size', (words) => z.string().min(3, words), 'x'],
    ['a format', (words) => z.email(words), 'x'],
    ['a value', (words) => z.enum(['a'], words), 'b'],
    ['a union', (words) => z.union([z.string(), z.number()], words), true],
    ['a check', (words) => z.string().refine(() => false, words), 'x'],
  ])('what a contract says itself of %s stays, whatever letter it begins with', (_what, schemaOf, value) => {
    for (const words of ['names have three letters', 'URLs are texts']) {
      expect(messageOf(schemaOf(words), value)).toEqual([words])
    }
  })

  it('a missing field is required, also where the contract has words for a wrong one', () => {
    expect(messageOf(z.boolean('must be true or false'), undefined)).toEqual(['required'])
  })

  it('paths show the name of the body where they would be empty or begin with an index', () => {
    const schema = z.array(z.strictObject({ name: z.string() }))
    expect(faultsOf(schema, [{ name: 1, more: 2 }])).toEqual([
      { field: 'body[0].name', message: 'must be a string' },
      { field: 'body[0].more', message: 'not accepted' },
    ])
    expect(faultsOf(schema, 'x')).toEqual([{ field: 'body', message: 'must be an array' }])
  })
})
