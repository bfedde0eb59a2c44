import { afterAll, describe, expect, it } from 'vitest'
import { NumberText } from '../../lib/json/lossless-json.ts'
import { createSandbox } from '../formula/sandbox.ts'
import { compileSchema, type JsonSchema } from './json-schema.ts'

const sandbox = createSandbox()
afterAll(() => sandbox.close())

async function faultsOf(schema: JsonSchema, value: unknown): Promise<string[]> {
  const compiled = compileSchema(schema)
  if (!compiled.ok) throw new Error(compiled.message)
  return compiled.check(value, sandbox.of('a test'))
}

const PERSON = {
  $defs: {
    name: { type: 'string', minLength: 2 },
    person: { properties: { name: { $ref: '#/$defs/name' } } },
  },
  type: 'object',
  properties: { people: { type: 'array', items: { $ref: '#/$defs/person', required: ['name'] } } },
}

describe('values are checked against', () => {
  it.each<[string, JsonSchema, unknown, unknown]>([
    ['references inside of references', PERSON, { people: [{ name: 'Al' }] }, { people: [{ name: 'A' }] }],
    ['what stands beside a reference', PERSON, { people: [] }, { people: [{}] }],
    ['each type of several', { type: ['string', 'null', 'string'] }, null, 5],
    ['nullable as OpenAPI has it', { type: 'string', nullable: true }, null, 5],
    [
      'all of several',
      {
        allOf: [
          { type: 'number', minimum: 1 },
          { type: 'number', maximum: 3 },
        ],
      },
      2,
      4,
    ],
    ['any of several', { anyOf: [{ type: 'number' }, { const: 'x' }] }, 'x', 'y'],
    ['numbers with their digits', { type: 'number', maximum: new NumberText('1e-7') }, 0, 1],
    ['formats', { type: 'string', format: 'date' }, '2026-01-31', '31.1.2026'],
    [
      'keys that are not named',
      { type: 'object', additionalProperties: { type: 'number' } },
      { a: 1 },
      { a: 'x' },
    ],
    ['keys that are forbidden', { properties: { a: {} }, additionalProperties: false }, { a: 1 }, { b: 1 }],
    ['items that must differ', { items: { type: 'number' }, uniqueItems: true }, [1, 2], [1, 1]],
    ['patterns in lists', { items: { type: 'string', pattern: '^a' } }, ['a', 'ab'], ['a', 'b']],
    [
      'a property that is called pattern',
      { properties: { pattern: { type: 'number' } } },
      { pattern: 1 },
      { pattern: 'x' },
    ],
    [
      'patterns among other keys',
      { additionalProperties: { type: 'string', pattern: '^a' } },
      { x: 'a' },
      { x: 'b' },
    ],
  ])('%s', async (_name, schema, good, bad) => {
    expect(await faultsOf(schema, good)).toEqual([])
    expect(await faultsOf(schema, bad)).not.toEqual([])
  })
})

it.each<[unknown, string[]]>([
  [{ people: [{ name: 'A' }] }, [expect.stringMatching(/^\$\.people\[0\]\.name: /)]],
  [{ people: 5 }, ['$.people: must be an array']],
])('a fault names its place: %j', async (value, faults) => {
  expect(await faultsOf(PERSON, value)).toEqual(faults)
})

describe('schemas that would cost too much are refused', () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [
      `d${n}`,
      { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
    ]),
  )
  let deep: JsonSchema = {}
  for (let n = 0; n < 5000; n += 1) deep = { items: deep }

  it.each<[string, JsonSchema, RegExp]>([
    ['references that double', { $defs: { ...doubling, d30: {} }, $ref: '#/$defs/d0' }, /too large/],
    ['a circle', { $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' }, /refers to itself/],
    ['nesting', deep, /too large/],
    ['an absent reference', { $ref: '#/$defs/constructor' }, /is not there/],
    ['a list where a schema belongs', { anyOf: {} }, /where a list belongs/],
  ])('%s', (_name, schema, message) => {
    const compiled = compileSchema(schema)
    expect(compiled).toEqual({ ok: false, message: expect.stringMatching(message) })
  })
})
