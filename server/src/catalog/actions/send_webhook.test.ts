import { createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createKey } from '../provider/access.ts'
import { type Reply, serveDouble } from '../testing/provider-double.ts'
import { type Settings, useActions } from '../testing/run-action.ts'

const runAction = useActions()

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const row = { input: { name: 'A "quoted" name', tags: ['a', 'b'] }, env: { HOOK: SECRET } }
const now = new Date('2026-01-02T03:04:05Z')

async function send(
  inputs: Record<string, unknown>,
  reply: Reply = { status: 204, text: '' },
  settings: Settings = {},
) {
  const receiver = await serveDouble(() => reply)
  const given = { url: `${receiver.origin}/in`, payload: '{"a": 1}', ...inputs }
  return { outcome: await runAction('send_webhook', given, { row, now, ...settings }), seen: receiver.seen }
}

describe('send_webhook', () => {
  it.each<[string, unknown, string, string]>([
    [
      'JSON text with tokens in it',
      '{"who": "{{input.name}}", "tags": "{{input.tags}}", "n": 1}',
      '{"who":"A \\"quoted\\" name","tags":["a","b"],"n":1}',
      'application/json',
    ],
    [
      'an object',
      { who: 'Hi {{input.name}}', deep: [{ tags: '{{input.tags}}' }] },
      '{"who":"Hi A \\"quoted\\" name","deep":[{"tags":["a","b"]}]}',
      'application/json',
    ],
    [
      'items of name and value',
      [{ name: 'who', value: '{{input.name}}' }],
      '{"who":"A \\"quoted\\" name"}',
      'application/json',
    ],
    ['a list', [1, '{{input.tags}}'], '[1,["a","b"]]', 'application/json'],
    ['one token', '{{input.tags}}', '["a","b"]', 'application/json'],
    ['text', 'Hello {{input.name}}', 'Hello A "quoted" name', 'text/plain; charset=utf-8'],
  ])('sends %s', async (_name, payload, body, type) => {
    const { outcome, seen } = await send({ payload })
    expect(outcome).toMatchObject({ kind: 'done', outputs: { delivered: true, status_code: 204 } })
    expect(seen).toMatchObject([{ method: 'POST', path: '/in', body, headers: { 'content-type': type } }])
  })

  it.each<[string, Record<string, unknown>, Settings, Buffer]>([
    ['a secret of Standard Webhooks', { secret: '{{env.HOOK}}' }, {}, Buffer.from(SECRET.slice(6), 'base64')],
    ['any other secret', { secret: 'plain-secret' }, {}, Buffer.from('plain-secret')],
    [
      'the secret of a connection',
      { connection: 'Main' },
      { keys: { platform: () => null, own: async () => createKey('c', { secret: 'kept' }) } },
      Buffer.from('kept'),
    ],
  ])('is signed with %s', async (_name, inputs, settings, key) => {
    const { seen } = await send(inputs, undefined, settings)
    const headers = seen[0]?.headers ?? {}
    const signed = `${String(headers['webhook-id'])}.1767323045.{"a":1}`
    expect(headers).toMatchObject({
      'webhook-timestamp': '1767323045',
      'webhook-signature': `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
    })
  })

  it('webhook-id is the same in every try of a cell, and differs between cells', async () => {
    const ids = []
    for (const cellRun of ['r/1/a', 'r/1/a', 'r/2/a']) {
      ids.push((await send({}, { status: 500, text: '' }, { cellRun })).seen[0]?.headers['webhook-id'])
    }
    expect(ids[0]).toMatch(/^msg_[0-9a-f]{32}$/)
    expect([ids[1] === ids[0], ids[2] === ids[0]]).toEqual([true, false])
  })

  it('without a secret there is no signature', async () => {
    expect((await send({})).seen[0]?.headers).not.toHaveProperty('webhook-signature')
  })

  it.each<[Reply, object]>([
    [
      { status: 429, headers: { 'retry-after': '4' }, text: 'wait' },
      { kind: 'retry', afterMs: 4000 },
    ],
    [
      { status: 502, text: 'bad' },
      { kind: 'retry', message: 'HTTP 502: bad' },
    ],
    [
      { status: 410, text: `gone ${SECRET}` },
      { kind: 'failed', message: 'HTTP 410: gone [redacted]' },
    ],
  ])('D24 %j', async (reply, expected) => {
    expect((await send({ secret: SECRET }, reply)).outcome).toMatchObject(expected)
  })

  it.each([
    [{ url: 'http://[::1]:9/' }, { kind: 'failed', message: expect.stringMatching(/loopback/) }],
    [{ connection: 'none' }, { kind: 'unrunnable', message: 'there is no connection "none" to webhook' }],
    [{ payload: '{{env.EMPTY}}' }, { kind: 'unrunnable', message: 'required and empty: payload' }],
  ])('%j', async (inputs, expected) => {
    const settings = { row: { ...row, env: { EMPTY: '' } } }
    expect((await send(inputs, undefined, settings)).outcome).toMatchObject(expected)
  })
})
