import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { BODY_CLASSES, readBodyText } from './body.ts'

const app = await makeApp()
const org = await app.makeOrg()
const { workflow_id: id } = (await org.call('POST', '/workflows', { name: 'Bodies' })).body.data
const sheet = `/workflows/${id}/sheets/${id}`
await org.call('POST', `${sheet}/inputs`, [{ name: 'a', type: 'string' }])

const origin = await app.api.listen({ host: '127.0.0.1', port: 0 })
const { control, document, file, knowledge, rows } = BODY_CLASSES

/** Returns a body of exactly this many bytes, all blank but the last. */
const bodyOf = (bytes: number, last = '0') => `${' '.repeat(bytes - last.length)}${last}`

describe('R13: how large a body may be is declared by its route', () => {
  const paths = Object.entries(app.api.swagger().paths ?? {}).filter(([path]) => path.startsWith('/api/v1/'))
  const declared = paths.flatMap(([path, operations]) =>
    Object.entries(operations ?? {}).map(([verb, operation]): [string, Json] => [
      `${verb.toUpperCase()} ${path.slice('/api/v1'.length)}`,
      (operation as Json)['x-max-body-bytes'],
    ]),
  )
  const reading = declared.filter(([name]) => !/^(GET|HEAD|OPTIONS) /.test(name))

  it('every route that reads a body names its limit', () => {
    expect(reading.length).toBeGreaterThan(30)
    expect(reading.filter(([, bytes]) => bytes === undefined)).toEqual([])
  })

  it('only routes that receive rows or files accept more than a configuration', () => {
    const large = reading.filter(([, bytes]) => bytes > document.bytes)
    expect(Object.fromEntries(large)).toEqual({
      'PUT /user/knowledge': knowledge.bytes,
      'POST /workflows/{workflow_id}/sheets/{sheet_id}/rows': rows.bytes,
      'POST /files': file.bytes,
      'POST /shortcuts/{id}/run': rows.bytes,
      'POST /shortcuts/{id}/run/batch': rows.bytes,
      'POST /apps/{id}/run': rows.bytes,
      'POST /apps/{id}/run/batch': rows.bytes,
    })
  })

  it.each([
    ['PATCH', `/workflows/${id}/name`, control.bytes],
    ['POST', `${sheet}/rows/delete`, document.bytes],
    ['POST', `${sheet}/run`, document.bytes],
    ['POST', `${sheet}/export`, document.bytes],
    ['POST', `${sheet}/actions/add`, document.bytes],
    ['POST', '/sources/find_people', document.bytes],
    ['POST', '/agent/run', document.bytes],
    ['PUT', '/user/knowledge', knowledge.bytes],
    ['POST', `${sheet}/rows`, rows.bytes],
  ])('D6: %s %s takes %d bytes and answers 413 for one more', async (method, path, bytes) => {
    const fits = await org.call(method, path, bodyOf(bytes))
    expect([400, 404]).toContain(fits.status)
    const { status, body } = await org.call(method, path, bodyOf(bytes + 1))
    expect(body).toMatchObject({ status: 413, error: 'Payload Too Large' })
    expect([status, body.message]).toEqual([413, `The body must be at most ${bytes} bytes`])
  })

  it('a body without a content-length is cut off when it becomes too large', async () => {
    const chunk = new TextEncoder().encode(' '.repeat(16_384))
    const answer = await fetch(`${origin}/api/v1/workflows`, {
      method: 'POST',
      headers: { authorization: `Bearer ${org.key}`, 'content-type': 'application/json' },
      body: ReadableStream.from(Array.from({ length: 64 }, () => chunk)),
      duplex: 'half',
    })
    expect(answer.status).toBe(413)
    await answer.body?.cancel()
  })

  it('a client that sends too much without reading still receives the reason of the refusal', async () => {
    const headers = { authorization: `Bearer ${org.key}`, 'content-type': 'application/json' }
    const body = bodyOf(rows.bytes + 2 ** 20)
    const statuses = []
    for (let n = 0; n < 20; n += 1) {
      const answer = await fetch(`${origin}/api/v1${sheet}/rows`, { method: 'POST', headers, body })
      statuses.push([answer.status, ((await answer.json()) as Json).error])
    }
    expect(statuses).toEqual(Array.from({ length: 20 }, () => [413, 'Payload Too Large']))
  })

  it('an endless body is cut off', async () => {
    const headers = { authorization: `Bearer ${org.key}`, 'content-type': 'application/json' }
    const chunk = new Uint8Array(2 ** 20)
    let sent = 0
    const endless = async function* () {
      for (;;) {
        sent += chunk.length
        yield chunk
        if (sent > 200 * chunk.length) throw new Error('the body was not refused')
      }
    }
    const body = ReadableStream.from(endless())
    const asked = fetch(`${origin}/api/v1/workflows`, { method: 'POST', headers, body, duplex: 'half' })
    // The connection may be closed before the answer is read.
    const status = await asked.then((answer) => answer.status).catch(() => 413)
    expect(status).toBe(413)
    expect(sent).toBeLessThan(100 * chunk.length)
  })

  it('a body that breaks off is a 400', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"name":')
    const [payload] = (await once(server, 'request')) as [IncomingMessage]
    const reading = readBodyText(payload, 100)
    socket.destroy()
    server.close()
    await expect(reading).rejects.toMatchObject({
      status: 400,
      details: { errors: [{ field: 'body', message: 'the body ended before its announced length' }] },
    })
  })

  it('the knowledge file may be 256 KB of what JSON has to escape', async () => {
    const content = '\u0001'.repeat(262_144)
    const { status } = await org.call('PUT', '/user/knowledge', { content })
    expect(status).toBe(200)
  })
})

describe('R13: the length of an array is checked before its items', () => {
  const wrong = (count: number) => Array.from({ length: count }, () => 0)

  it.each([
    ['/export', { row_ids: wrong(25_001) }, 'row_ids', 'must be at most 25,000 items'],
    ['/run', { row_ids: wrong(25_001) }, 'row_ids', 'must be at most 25,000 items'],
    ['/rows/list', { row_ids: wrong(201) }, 'row_ids', 'must be at most 200 items'],
    ['/rows/delete', { row_ids: wrong(201) }, 'row_ids', 'must be at most 200 items'],
    ['/rows', { rows: wrong(1001) }, 'rows', 'must be at most 1,000 items'],
    ['/rows/list', { filters: wrong(51) }, 'filters', 'must be at most 50 items'],
    ['/inputs', wrong(501), 'inputs', 'must be at most 500 items'],
    [
      '/rows/list',
      { status_filters: [{ action_instance_id: 'a', is: wrong(101) }] },
      'status_filters[0].is',
      'must be at most 100 items',
    ],
  ])('%s with too many wrong items says one thing', async (path, body, field, message) => {
    const answer = await org.call('POST', `${sheet}${path}`, body)
    // The sheet has no action, which is reported as well.
    const errors = answer.body.errors.filter(
      (error: { field: string }) => !error.field.endsWith('action_instance_id'),
    )
    expect([answer.status, errors]).toEqual([400, [{ field, message }]])
  })

  it('at most 100 errors are reported, with how many more there are', async () => {
    const answer = await org.call('POST', `${sheet}/export`, { row_ids: wrong(25_000) })
    const { message, errors } = answer.body
    expect([answer.status, message, errors.length]).toEqual([400, '25000 validation errors', 100])
    expect(errors[0]).toEqual({ field: 'row_ids[0]', message: 'must be a string' })
    expect(errors[99]).toEqual({ field: 'errors', message: 'and 24901 more' })
  })

  it('a body holds a limited number of values', async () => {
    const answer = await org.call('POST', `${sheet}/export`, { row_ids: wrong(100_001) })
    expect(answer.body.errors).toEqual([{ field: 'body', message: 'must hold at most 100,000 values' }])
  })
})

describe('unknown fields are warned of, up to a hundred', () => {
  const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`unknown_${n}`, n]))

  it('a body of nothing but them is answered', async () => {
    const { status, body } = await org.call('POST', `${sheet}/rows/list`, wide)
    expect([status, body.warnings.length]).toEqual([200, 101])
    expect(body.warnings[100].message).toBe('4900 more fields are not known here and were ignored')
  })

  it('numbers of rows keep their text beside an unknown field', async () => {
    const sent = '{"rows": [{"a": 12345678901234567890}], "unknown": 1}'
    const added = await org.call('POST', `${sheet}/rows`, sent)
    expect(added.body).toMatchObject({ status: 201, warnings: [{ field: 'unknown', code: 'unknown_field' }] })
    const listed = await org.call('POST', `${sheet}/rows/list`, { row_ids: added.body.data.row_ids })
    expect(listed.body.data.rows[0].inputs).toEqual({ a: '12345678901234567890' })
  })

  it('a rejected row names the first of its errors and how many more there are', async () => {
    const { body } = await org.call('POST', `${sheet}/rows`, { rows: [wide] })
    const [{ errors }] = body.data.rejected
    expect([errors.length, errors[20].message]).toEqual([21, 'and 4980 more errors'])
  })
})

describe('a value and a row have a size', () => {
  it('a value of 1 MiB is stored, a larger one rejects its row', async () => {
    const fits = 'x'.repeat(1024 * 1024 - 2)
    const { body } = await org.call('POST', `${sheet}/rows`, { rows: [{ a: fits }, { a: `${fits}x` }] })
    expect(body.data.row_count).toBe(1)
    expect(body.data.rejected[0]).toMatchObject({
      index: 1,
      errors: [{ field: 'a', code: 'value_too_large', message: expect.stringContaining('1,048,576 bytes') }],
    })
  })

  it('the size is counted in bytes', async () => {
    const { body } = await org.call('POST', `${sheet}/rows`, { rows: [{ a: 'ä'.repeat(600_000) }] })
    expect(body.data.rejected[0].errors[0].code).toBe('value_too_large')
  })
})
