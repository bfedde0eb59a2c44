import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeEach, expect, it } from 'vitest'
import { openStore, type Store } from '#server/database/connection/db.ts'
import { createLog } from '#server/lib/log.ts'
import { makeRowSheet, rowsOf } from '#test/builders/rows.ts'
import { atEnd } from '#test/plumbing/at-end.ts'
import { type Json, makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { createApp } from '../app.ts'

const app = await makeApp({ settings: { LOAM_RATE_LIMIT_PER_DAY: '1000' } })
const opened = openStore({ url: app.databaseUrl, log: createLog('silent') })
/** Counts pages that were read while their caller was admitted. */
let foreseen = 0
const store: Store = {
  ...opened,
  queryTogether(...given) {
    foreseen += 1
    return opened.queryTogether(...given)
  },
}
const api = await createApp({ ...app.services, store })
const origin = await api.listen({ host: '127.0.0.1', port: 0 })
atEnd(async () => {
  await api.close()
  await store.close()
})

beforeEach(() => void (foreseen = 0))

type Answer = { status: number; headers: Headers; body: Json }

async function list(
  key: string,
  base: string,
  body: unknown = { page_size: 2 },
  headers = {},
): Promise<Answer> {
  const answer = await fetch(`${origin}/api/v1${base}/rows/list`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: answer.status, headers: answer.headers, body: await answer.json() }
}

async function makeSheet(org: TestOrg, count = 3) {
  const base = await makeRowSheet(org, ['name'])
  const rows = Array.from({ length: count }, (_, n) => ({ name: `row ${n}` }))
  const rowIds = await rowsOf(org).addRows(base, rows)
  return { base, rowIds }
}

const namesIn = ({ body }: Answer): string[] => body.data.rows.map((row: Json) => row.inputs.name)

it('a page that is asked for again is read while its caller is admitted, and is what it is now', async () => {
  const org = await app.makeOrg()
  const { base, rowIds } = await makeSheet(org)
  const first = await list(org.key, base)
  expect([first.status, foreseen]).toEqual([200, 0])
  const again = await list(org.key, base)
  expect([again.status, foreseen]).toEqual([200, 1])
  expect(again.body).toEqual(first.body)
  expect(namesIn(again)).toEqual(['row 0', 'row 1'])
  await org.call('POST', `${base}/rows/delete`, { row_ids: [rowIds[0]] })
  const later = await list(org.key, base)
  expect([namesIn(later), later.body.data.total_count, foreseen]).toEqual([['row 1', 'row 2'], 2, 2])
})

it.each<[what: string, body: unknown, names: string[], isForeseen: boolean]>([
  ['another page', { page_no: 2, page_size: 2 }, ['row 2'], true],
  ['the default page', {}, ['row 0', 'row 1', 'row 2'], true],
  ['a page with blanks and another order', '{ "page_size": 1,\n "page_no": 3 }', ['row 2'], true],
  [
    'a filter',
    { filters: [{ variable: '{{input.name}}', operator: 'contains', values: ['row 1'] }] },
    ['row 1'],
    false,
  ],
  ['an unknown field', { page_size: 1, page: 3 }, ['row 0'], false],
  ['blanks beyond what is looked at', `${' '.repeat(2000)}{"page_size":1}`, ['row 0'], false],
])('%s is answered as it was asked for', async (_what, body, names, isForeseen) => {
  const org = await app.makeOrg()
  const { base } = await makeSheet(org)
  await list(org.key, base)
  const answer = await list(org.key, base, body)
  expect([answer.status, namesIn(answer), foreseen]).toEqual([200, names, isForeseen ? 1 : 0])
})

it('a call with an Idempotency-Key reads in its transaction', async () => {
  const org = await app.makeOrg()
  const { base } = await makeSheet(org)
  await list(org.key, base)
  const answer = await list(org.key, base, undefined, { 'idempotency-key': 'one' })
  expect([answer.status, namesIn(answer), foreseen]).toEqual([200, ['row 0', 'row 1'], 0])
})

it('each request is counted once', async () => {
  const org = await app.makeOrg()
  const { base } = await makeSheet(org)
  await list(org.key, base)
  const before = await usedToday(org)
  for (let n = 0; n < 3; n += 1) await list(org.key, base)
  expect([(await usedToday(org)) - before, foreseen]).toEqual([3, 3])
})

const ask = <Row extends object>(text: string, ...values: unknown[]) => app.store.query<Row>({ text, values })
const BUCKETS = `bucket in (select 'key ' || key_id from api_keys where org_id = $1)`

async function usedToday({ orgId }: TestOrg): Promise<number> {
  const rows = await ask<{ used: number }>(
    `select sum(day_used)::int as used from rate_windows where ${BUCKETS}`,
    orgId,
  )
  return rows[0]?.used ?? 0
}

/** Changes since the last request that lead to a refusal. */
const REFUSALS: [what: string, statement: string, status: number][] = [
  ['a key that was revoked', 'update api_keys set revoked_at = now() where org_id = $1', 401],
  ['a key whose member is gone', `delete from members where org_id = $1`, 401],
  ['a key that is over its limit', `update rate_windows set day_used = 1000 where ${BUCKETS}`, 429],
  ['a key that lost the scope', `update api_keys set scopes = '{workflows:read}' where org_id = $1`, 403],
  ['a workflow that is no longer shared', 'delete from workflow_shares where org_id = $1', 403],
  ['a workflow that was deleted', 'update workflows set deleted_at = now() where org_id = $1', 404],
]
it.each(REFUSALS)(
  '%s is refused at once, and nothing is read for the next request',
  async (_what, statement, status) => {
    const org = await app.makeOrg()
    const { base } = await makeSheet(org)
    const key = await org.keyFor('member@example.com', 'member')
    await ask(
      `insert into workflow_shares (org_id, workflow_id, member_id)
      select $1, $2, member_id from members where org_id = $1 and email = 'member@example.com'`,
      org.orgId,
      base.split('/')[2],
    )
    await list(key, base)
    expect([(await list(key, base)).status, foreseen]).toEqual([200, 1])
    await ask(statement, org.orgId)
    const refused = await list(key, base)
    expect([refused.status, refused.body.data, foreseen]).toEqual([status, undefined, 2])
    expect([(await list(key, base)).status, foreseen]).toEqual([status, 2])
  },
)

it('a sheet of another organisation is not there, whoever has seen it', async () => {
  const [org, other] = [await app.makeOrg(), await app.makeOrg()]
  const { base } = await makeSheet(org)
  await list(org.key, base)
  await list(org.key, base)
  foreseen = 0
  expect([(await list(other.key, base)).status, foreseen]).toEqual([404, 0])
  expect([(await list(other.key, base)).status, foreseen]).toEqual([404, 0])
})

it('many at once are answered each for itself', async () => {
  const org = await app.makeOrg()
  const { base } = await makeSheet(org, 30)
  await list(org.key, base)
  const pages = Array.from({ length: 30 }, (_, n) => n + 1)
  const answers = await Promise.all(pages.map((page_no) => list(org.key, base, { page_no, page_size: 1 })))
  expect(answers.map((answer) => namesIn(answer)[0])).toEqual(pages.map((page) => `row ${page - 1}`))
  expect(foreseen).toBeGreaterThan(0)
})

it('a body that comes after its headers is waited for, and nothing is foreseen', async () => {
  const org = await app.makeOrg()
  const { base } = await makeSheet(org)
  await list(org.key, base)
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  const body = '{"page_size":1}'
  socket.write(
    `POST /api/v1${base}/rows/list HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${org.key}\r\nconnection: close\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  )
  await sleep(50)
  socket.write(body.slice(5))
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString()))
  await once(socket, 'close')
  expect(text).toMatch(/^HTTP\/1.1 200 /)
  expect(text).toContain('row 0')
  expect(foreseen).toBe(0)
})

it('a connection that is lost meanwhile is a 503, and the next request is answered', async () => {
  const org = await app.makeOrg()
  const { base } = await makeSheet(org)
  await list(org.key, base)
  await list(org.key, base)
  const ended = await app.store.query({
    text: `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query like '%keyed read%'`,
  })
  expect(ended.length).toBeGreaterThan(0)
  const answers = [await list(org.key, base), await list(org.key, base), await list(org.key, base)]
  for (const { status } of answers) expect([200, 503]).toContain(status)
  expect(answers.at(-1)?.status).toBe(200)
})
