import { describe, expect, it } from 'vitest'
import { signIn } from '#server/api/testing/session.ts'
import { createMailer } from '#server/lib/mail.ts'
import { mailJob } from '#server/organisation/mail-job.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { setSharing } from '#server/sheets/workflows.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { serveSmtp } from '#test/doubles/mail-server.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()
const org = await app.makeOrg()
const { makeSheet, addRows, list } = rowsOf(org)

const UNKNOWN = '01890000-0000-7000-8000-000000000001'
const TEXT = { action_id: 'split_full_name', inputs: { value: '{{input.name}}' } }

async function makeCommented() {
  const base = await makeSheet(['name', 'data'])
  expect((await org.call('POST', `${base}/actions/add`, TEXT)).status).toBe(201)
  const ids = await addRows(base, [{ name: 'Ada' }, { name: 'Bob' }])
  const add = async (body: object): Promise<Json> => {
    const answer = await org.call('POST', `${base}/comments`, { row_id: ids[0], text: 'Hm', ...body })
    expect([answer.status, answer.body.errors]).toEqual([201, undefined])
    return answer.body.data
  }
  const all = async (query = ''): Promise<Json> =>
    (await org.call('GET', `${base}/comments${query}`)).body.data
  return { base, ids, add, all }
}

describe('G9 Comments', () => {
  it('are added to rows, cells and values, listed newest first, and counted in rows', async () => {
    const { base, ids, add, all } = await makeCommented()
    const row = await add({ text: 'On the row' })
    expect(row).toEqual({
      comment_id: expect.any(String),
      row_id: ids[0],
      action_instance_id: null,
      variable: null,
      text: 'On the row',
      mentions: [],
      author: org.adminEmail,
      made_at: expect.any(String),
      edited_at: null,
      resolved_at: null,
      resolved_by: null,
    })
    const cell = await add({ action_instance_id: 'split_full_name_1' })
    const input = await add({ variable: '{{input.name}}' })
    const path = await add({ variable: '{{input.data.a[0]}}' })
    const output = await add({ variable: '{{split_full_name_1.first}}' })
    const other = await add({ row_id: ids[1] })
    expect([cell.action_instance_id, input.variable, path.variable, output.variable]).toEqual([
      'split_full_name_1',
      '{{input.name}}',
      '{{input.data.a[0]}}',
      '{{split_full_name_1.first}}',
    ])
    const { comments, next_cursor } = await all()
    expect([comments, next_cursor]).toEqual([[other, output, path, input, cell, row], null])
    const first = await all('?limit=2')
    expect(first.comments).toEqual([other, output])
    expect((await all(`?limit=4&cursor=${first.next_cursor}`)).comments).toEqual([path, input, cell, row])
    expect((await all(`?row_id=${ids[1]}`)).comments).toEqual([other])
    const page = await list(base)
    expect(page.rows.map((one: Json) => one.open_comments)).toEqual([
      {
        total: 5,
        row: 1,
        cells: {
          split_full_name_1: 1,
          '{{input.name}}': 1,
          '{{input.data.a[0]}}': 1,
          '{{split_full_name_1.first}}': 1,
        },
      },
      { total: 1, row: 1, cells: {} },
    ])
    const filters = [{ variable: '{{input.name}}', operator: 'is equal to', values: ['Bob'] }]
    expect((await list(base, { filters })).rows[0].open_comments.total).toBe(1)
    expect((await org.call('GET', `${base}/rows/${ids[0]}`)).body.data.open_comments.total).toBe(5)
  })

  it('resolve and open again by anyone; text by the author; deletion by author or admin', async () => {
    const { base, ids, add, all } = await makeCommented()
    const [, , workflowId] = base.split('/')
    const member = await org.keyFor('member@example.com', 'member')
    const shared = { orgId: org.orgId, workflowId: String(workflowId), email: 'member@example.com' }
    await setSharing(app.store.system, OPERATOR, shared, true)
    const by = (key: string, method: string, id: string, body?: object) =>
      app.call(key, method, `${base}/comments/${id}`, body)
    const { comment_id } = await add({})
    expect((await by(member, 'PATCH', comment_id, { text: 'mine' })).status).toBe(403)
    expect((await by(member, 'DELETE', comment_id)).status).toBe(403)
    const resolved = await by(member, 'PATCH', comment_id, { resolved: true })
    expect(resolved.body.data).toMatchObject({
      resolved_by: 'member@example.com',
      resolved_at: expect.any(String),
    })
    expect((await list(base)).rows[0].open_comments).toBeUndefined()
    expect((await all('?resolved=false')).comments).toEqual([])
    expect((await all('?resolved=true')).comments).toHaveLength(1)
    const opened = await by(org.key, 'PATCH', comment_id, { resolved: false, text: 'Better' })
    expect(opened.body.data).toMatchObject({
      resolved_at: null,
      text: 'Better',
      edited_at: expect.any(String),
    })
    const body = { row_id: ids[1], text: 'From a member' }
    const theirs = (await app.call(member, 'POST', `${base}/comments`, body)).body.data.comment_id
    expect((await by(org.key, 'PATCH', theirs, { text: 'x' })).status).toBe(403)
    expect((await by(org.key, 'DELETE', theirs)).body.data).toEqual({ comment_id: theirs, deleted: true })
    expect((await by(org.key, 'DELETE', theirs)).status).toBe(404)
    expect((await by(org.key, 'PATCH', UNKNOWN, { resolved: true })).status).toBe(404)
    const reader = await org.keyFor(org.adminEmail, 'admin', { scopes: ['workflows:data:read'] })
    expect((await by(reader, 'PATCH', comment_id, { resolved: true })).status).toBe(403)
    expect((await app.call(reader, 'GET', `${base}/comments`)).status).toBe(200)
  })

  it('follow a renamed input, are deleted with their row, and come back with it', async () => {
    const { base, ids, add, all } = await makeCommented()
    const comment = await add({ variable: '{{input.name}}' })
    const session = await signIn(app, org.orgId, org.adminEmail)
    const sheet = base
    await session.call('POST', `${sheet}/rows/delete`, { row_ids: [ids[0]] })
    expect((await all()).comments).toEqual([])
    await session.call('POST', `${sheet}/rows/restore`, { row_ids: [ids[0]] })
    expect((await all()).comments).toEqual([comment])
    const renamed = await org.call('PATCH', `${base}/inputs/name`, { name: 'person' })
    expect(renamed.status).toBe(200)
    expect((await all()).comments[0].variable).toBe('{{input.person}}')
    expect((await list(base)).rows[0].open_comments.cells).toEqual({ '{{input.person}}': 1 })
    await org.call('POST', `${base}/rows/delete`, { row_ids: [ids[0]] })
    expect((await all()).comments).toEqual([])
    await add({ row_id: ids[1] })
    await org.call('POST', `${base}/rows/delete-all`)
    expect((await all()).comments).toEqual([])
  })

  it('`@<email>` of a member with access is mailed once, over the outbox; others are a warning', async () => {
    const { base, ids, add } = await makeCommented()
    await org.keyFor('ada@example.com', 'admin')
    await org.keyFor('eve@example.com', 'member')
    const mail = await serveSmtp()
    const text = 'Look @ada@example.com, @Ada@example.com. (@eve@example.com) @nobody@example.com!'
    const answer = await org.call('POST', `${base}/comments`, { row_id: ids[0], text })
    expect(answer.body.data.mentions).toEqual(['ada@example.com'])
    expect(answer.body.warnings.map(({ code, message }: Json) => [code, message.split(' ')[0]])).toEqual([
      ['unknown_member', 'eve@example.com'],
      ['unknown_member', 'nobody@example.com'],
    ])
    const { comment_id } = answer.body.data
    await org.call('PATCH', `${base}/comments/${comment_id}`, { text: 'Again @ada@example.com' })
    await add({ text: 'No mail@ada.example.com here' })
    const { store, services } = app
    const run = async (mailPerHour: number) => {
      const sendMail = createMailer({ url: mail.url, from: 'loam@loam.test' })
      const job = mailJob({ store, sendMail, mailPerHour, log: services.log })
      await job.run(undefined, new AbortController().signal)
    }
    await run(0)
    expect(mail.received).toHaveLength(0)
    await store.query({ text: 'update mail_outbox set due_at = now()' })
    await run(100)
    expect(mail.received).toHaveLength(1)
    expect(mail.received[0]?.to).toEqual(['ada@example.com'])
    expect(mail.received[0]?.text.replaceAll('=\r\n', '')).toContain(`/rows/${ids[0]}`)
    await run(100)
    expect(mail.received).toHaveLength(1)
  })

  it.each<[string, object, string[]]>([
    ['no row and no text', {}, ['row_id', 'text']],
    ['a blank text and an unknown row', { row_id: UNKNOWN, text: ' ' }, ['row_id', 'text']],
    ['a text too long', { text: 'x'.repeat(10_001) }, ['row_id', 'text']],
    ['a row that is not there', { row_id: UNKNOWN, text: 'x' }, ['row_id']],
    [
      'an action that is not there',
      { row_id: UNKNOWN, text: 'x', action_instance_id: 'a_1' },
      ['action_instance_id', 'row_id'],
    ],
    [
      'a variable that is not there',
      { row_id: UNKNOWN, text: 'x', variable: '{{input.z}}' },
      ['row_id', 'variable'],
    ],
    [
      'a cell and a variable',
      { row_id: UNKNOWN, text: 'x', action_instance_id: 'split_full_name_1', variable: '{{input.name}}' },
      ['row_id', 'variable'],
    ],
  ])('400: %s', async (_name, body, fields) => {
    const { base } = await makeCommented()
    const answer = await org.call('POST', `${base}/comments`, body)
    expect(answer.status).toBe(400)
    expect(answer.body.errors.map((error: { field: string }) => error.field).toSorted()).toEqual(fields)
  })
})
