import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { onHeldThread, watchThread } from '#server/lib/timing/thread-watch.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'

const MIB = 1024 * 1024
const app = await makeApp()
const org = await app.makeOrg()
const { workflow_id: id } = (await org.call('POST', '/workflows', { name: 'Wide' })).body.data
const sheet = `/workflows/${id}/sheets/${id}`
await org.call('POST', `${sheet}/inputs`, [{ name: 'a', type: 'string' }])
const ids = { workflow_id: id, sheet_id: id }

/** The longest time that the server's thread worked without a pause since the last reset. */
let heldMs = 0
const ends: (() => void)[] = []
beforeAll(() => {
  ends.push(
    watchThread({ warn: () => undefined }, 50),
    onHeldThread(({ ms }) => (heldMs = Math.max(heldMs, ms))),
  )
})
afterAll(() => {
  for (const end of ends) end()
})

/** The routes with a body that need only a sheet, with the size limit and the fields of their bodies. */
const routes = Object.entries(app.api.swagger().paths ?? {}).flatMap(([path, operations]) =>
  Object.entries(operations ?? {}).flatMap(([verb, operation]) => {
    const { 'x-max-body-bytes': bytes, requestBody } = operation as Json
    const filled = path.replaceAll(
      /\{(\w+)\}/g,
      (place, name: string) => (ids as Record<string, string>)[name] ?? place,
    )
    const schema = requestBody?.content?.['application/json']?.schema
    if (!path.startsWith('/api/v1/') || filled.includes('{') || schema === undefined || verb === 'delete')
      return []
    return [
      {
        name: `${verb.toUpperCase()} ${path.slice(7)}`,
        verb,
        path: filled,
        bytes: Math.min(bytes, 5 * MIB),
        schema,
      },
    ]
  }),
)

/** Items for the largest body, which are made once. */
const UNKNOWN_KEYS = Array.from({ length: (5 * MIB) / 12 }, (_, n) => `"\\u0001k${n}":1`).join(',')
const WRONG_ITEMS = '{"no":[]},'.repeat(MIB / 2)
/** Returns a body of about this many bytes: whole items, which contain no comma, between a start and an end. */
const fill = (bytes: number, start: string, end: string, items: string) =>
  `${start}${items.slice(0, items.lastIndexOf(',', bytes - start.length - end.length - 20))}${end}`
const unknownKeys = (bytes: number, start = '{', end = '}') => fill(bytes, start, end, UNKNOWN_KEYS)
const wrongItems = (bytes: number, start = '[', end = ']') => fill(bytes, start, end, WRONG_ITEMS)

const tried = new Set<string>()
/** Returns the fields of a shape that no body of this size had yet: the same code reads the same shape in every route. */
function newFields(bytes: number, properties: Record<string, Json>): string[] {
  return Object.keys(properties).filter((field) => {
    const shape = JSON.stringify([bytes, { ...properties[field], description: '' }])
    const isNew = !tried.has(shape)
    tried.add(shape)
    return isNew
  })
}

/**
 * Generates bodies of one size that are wrong everywhere: unknown keys, wrong items, and the same in each
 * field.
 */
function* worstBodies(bytes: number, fields: string[]): Generator<[string, string]> {
  yield ['unknown keys', unknownKeys(bytes)]
  yield ['wrong items', wrongItems(bytes)]
  for (const field of fields) {
    yield [`unknown keys in ${field}`, unknownKeys(bytes, `{"${field}":{`, '}}')]
    yield [`unknown keys in an item of ${field}`, unknownKeys(bytes, `{"${field}":[{`, '}]}')]
    yield [`wrong items in ${field}`, wrongItems(bytes, `{"${field}":[`, ']}')]
  }
}

async function expectBounded(verb: string, path: string, body: string): Promise<Json> {
  await new Promise((resolve) => {
    setTimeout(resolve, 30)
  })
  heldMs = 0
  const answer = await app.api.inject({
    method: verb.toUpperCase() as 'POST',
    url: path,
    headers: { authorization: `Bearer ${org.key}`, 'content-type': 'application/json' },
    payload: body,
  })
  await new Promise((resolve) => {
    setTimeout(resolve, 30)
  })
  expect(answer.statusCode).toBeLessThan(500)
  expect(answer.rawPayload.length).toBeLessThanOrEqual(MIB)
  expect(heldMs).toBeLessThan(1000)
  return JSON.parse(answer.body)
}

describe('F74: a body that is wrong everywhere is answered in bounded time and length', () => {
  it('there are such routes', () => expect(routes.length).toBeGreaterThan(15))

  it.each(routes)('$name', { timeout: 120_000 }, async ({ verb, path, bytes, schema }) => {
    for (const [, body] of worstBodies(bytes, newFields(bytes, schema.properties ?? {})))
      await expectBounded(verb, path, body)
  })

  it('rows that are rejected say how many more errors there are, and large ones are not repeated', async () => {
    const one = unknownKeys(600_000, '{"rows":[{', '}]}')
    const { data } = await expectBounded('POST', `/api/v1${sheet}/rows`, one)
    expect(data.rejected).toEqual([{ row: null, row_left_out: true, index: 0, errors: expect.any(Array) }])
    expect(data.rejected[0].errors).toHaveLength(21)
    expect(data.rejected[0].errors[20].message).toMatch(/^and \d{5} more errors$/)
    const most = await expectBounded(
      'POST',
      `/api/v1${sheet}/rows`,
      unknownKeys(5 * MIB, '{"rows":[{', '}]}'),
    )
    expect(JSON.stringify(most)).toContain('must hold no object of more than 50,000 keys')

    const row = (_: unknown, n: number) => `{"a":"${n}","b":"${'\\u0001'.repeat(900)}"}`
    const many = `{"rows":[${Array.from({ length: 960 }, row).join(',')}]}`
    const { data: answered } = await expectBounded('POST', `/api/v1${sheet}/rows`, many)
    expect(answered.rejected.length).toBeGreaterThan(900)
    expect(answered.rejected[0]).toMatchObject({ row: { a: '0' }, index: 0 })
    expect(answered.rejected[0].row_left_out).toBeUndefined()
    expect(answered.rejected.at(-1)).toMatchObject({ row: null, row_left_out: true })
  })

  it('configurations and conditions say how many more fields are not known', async () => {
    const add = async (rest: string) =>
      expectBounded('POST', `/api/v1${sheet}/actions/add`, `{"action_id":"http_api_call",${rest}}`)
    const inputs = await add(
      unknownKeys(600_000, '"inputs":{"endpoint":"https://a.example","method":"GET",', '}'),
    )
    expect(inputs.warnings.at(-1)).toMatchObject({
      field: 'inputs',
      message: expect.stringMatching(/ \d{5} more /),
    })
    const group = '"run_if":{"conditions":[{"conditions":[{"variable":"{{input.a}}","operator":"not empty",'
    const conditions = await add(unknownKeys(600_000, group, '}]}]}'))
    const messages = conditions.warnings.map(({ message }: { message: string }) => message)
    expect(messages.filter((message: string) => / \d{5} more$/.test(message))).toHaveLength(1)
  })
})
