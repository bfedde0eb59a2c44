import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { rowsOf } from '#test/builders/rows.ts'
import { type Json, makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'

const app = await makeApp({ settings: { LOAM_STORAGE_MB_PER_ORG: '3' } })
await startTestWorker(app)
const address = await app.api.listen({ host: '127.0.0.1', port: 0 })
const CSV = 'Company\nAcme\nGlobex\n'

type Body = string | ReadableStream<Uint8Array>

/** Uploads over a real connection, as a stream if the body is one. */
async function upload(org: TestOrg, body: Body, { name = 'leads.csv', headers = {}, key = org.key } = {}) {
  const answer = await fetch(`${address}/api/v1/files?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body,
    duplex: 'half',
  })
  const json: Json = await answer.json()
  return { status: answer.status, headers: answer.headers, body: json }
}

const stored = async (org: TestOrg) =>
  app.store.system.selectFrom('files').selectAll().where('org_id', '=', org.orgId).execute()

function chunks(count: number, bytes: number): ReadableStream<Uint8Array> {
  return ReadableStream.from(Array.from({ length: count }, () => new Uint8Array(bytes).fill(97)))
}

it('POST /files takes the bytes of a file, of whatever type, and Import CSV takes its file_ref', async () => {
  const org = await app.makeOrg()
  const { status, body } = await upload(org, CSV)
  expect([status, body.data]).toEqual([
    201,
    { file_ref: expect.stringMatching(/^\w{32}\.csv$/), size_bytes: CSV.length },
  ])
  const base = await rowsOf(org).makeSheet(['company'])
  const { file_ref } = body.data
  const started = await org.call('POST', `${base}/csv`, { file_ref, mapping: { Company: 'company' } })
  expect(started.status).toBe(202)
  await expect
    .poll(async () => (await org.call('GET', `${base}/csv`)).body.data)
    .toMatchObject({ status: 'completed', rows_imported: 2 })
})

it.each(['text/csv', 'application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'])(
  'a file of type %s is stored as it is',
  async (type) => {
    const org = await app.makeOrg()
    const { status, body } = await upload(org, CSV, { headers: { 'content-type': type } })
    expect([status, body.data.size_bytes]).toEqual([201, CSV.length])
  },
)

it('a file is streamed: more than any other body may have', async () => {
  const org = await app.makeOrg()
  const { status, body } = await upload(org, chunks(40, 65_536))
  expect([status, body.data.size_bytes]).toEqual([201, 40 * 65_536])
})

it('one without room is 409 while it arrives, and leaves nothing to import', async () => {
  const org = await app.makeOrg()
  const answer = await app.api.inject({
    method: 'POST',
    url: '/api/v1/files?name=a.csv',
    headers: { authorization: `Bearer ${org.key}` },
    payload: Buffer.alloc(3_100_000, 'a'),
  })
  expect([answer.statusCode, answer.json().error]).toEqual([409, 'STORAGE_LIMIT_REACHED'])
  expect((await stored(org)).map(({ size_bytes }) => size_bytes)).toEqual([null])
})

it.each([
  ['no name', '', CSV, 'name', 'required'],
  [
    'another kind of file',
    '?name=a.pdf',
    CSV,
    'name',
    'must be the name of a file that ends in .csv or .xlsx',
  ],
  [
    'an old workbook',
    '?name=a.XLS',
    CSV,
    'name',
    'must be a .csv or .xlsx file: old .xls workbooks cannot be read. Open it in a spreadsheet program, save it as .xlsx and put it again',
  ],
  ['no bytes', '?name=a.csv', undefined, 'body', 'must be the bytes of the file'],
])('%s is 400', async (_, query, body, field, message) => {
  const org = await app.makeOrg()
  const answer = await org.call('POST', `/files${query}`, body)
  expect([answer.status, answer.body.errors]).toEqual([400, [{ field, message }]])
})

it('a stream without a byte is 400', async () => {
  const answer = await upload(await app.makeOrg(), ReadableStream.from([]))
  expect([answer.status, answer.body.errors[0].field]).toEqual([400, 'body'])
})

it('a caller that disconnects midway leaves nothing to import, and frees its slot', async () => {
  const org = await app.makeOrg()
  const leaving = new AbortController()
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const sending = fetch(`${address}/api/v1/files?name=a.csv`, {
    method: 'POST',
    headers: { authorization: `Bearer ${org.key}` },
    body: readable,
    duplex: 'half',
    signal: leaving.signal,
  }).catch(() => undefined)
  await writer.write(new Uint8Array(1000))
  await expect.poll(async () => (await stored(org)).length).toBe(1)
  leaving.abort()
  await sending
  for (let n = 0; n < 4; n += 1) expect((await upload(org, CSV)).status).toBe(201)
  expect((await stored(org)).filter(({ size_bytes }) => size_bytes === null)).toHaveLength(1)
})

it('beyond 4 at once an organisation gets 429 with Retry-After', async () => {
  const org = await app.makeOrg()
  const pipes = Array.from({ length: 4 }, () => new TransformStream<Uint8Array, Uint8Array>())
  const open = pipes.map(({ readable }) => upload(org, readable))
  const writers = pipes.map(({ writable }) => writable.getWriter())
  // The client sends nothing before the first byte.
  await Promise.all(writers.map((writer) => writer.write(new TextEncoder().encode(CSV))))
  await expect.poll(async () => (await stored(org)).length).toBe(4)
  const refused = await upload(org, CSV)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
  await Promise.all(writers.map((writer) => writer.close()))
  expect((await Promise.all(open)).map(({ status }) => status)).toEqual([201, 201, 201, 201])
  expect((await upload(org, CSV)).status).toBe(201)
})

it('D14: the same file with the same key is the same file_ref; another file is 422', async () => {
  const org = await app.makeOrg()
  const headers = { 'idempotency-key': randomUUID() }
  const first = await upload(org, CSV, { headers })
  const again = await upload(org, CSV, { headers })
  expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 201, 'true'])
  expect(again.body).toEqual(first.body)
  expect((await upload(org, `${CSV}Initech\n`, { headers })).status).toBe(422)
  const kept = (await stored(org)).filter(({ size_bytes }) => size_bytes !== null)
  expect(kept.map(({ file_ref }) => file_ref)).toEqual([first.body.data.file_ref])
})

it('needs workflows:data:write; a key for certain workflows has it, for the imports of those', async () => {
  const org = await app.makeOrg()
  const reader = await org.keyFor(org.adminEmail, 'admin', { scopes: ['workflows:data:read'] })
  expect((await upload(org, CSV, { key: reader })).status).toBe(403)
  const workflow = (await org.call('POST', '/workflows', { name: 'W' })).body.data.workflow_id
  const narrowed = await org.keyFor(org.adminEmail, 'admin', { allowedWorkflowIds: [workflow] })
  expect((await upload(org, CSV, { key: narrowed })).status).toBe(201)
})
