import { describe, expect, it } from 'vitest'
import { createKey, type ProviderKeys } from '../provider/access.ts'
import { type Reply, serveDouble } from '../testing/provider-double.ts'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()

const TOKEN = 'xoxb-0123456789'
const keys: ProviderKeys = {
  platform: () => null,
  own: async (provider, name) =>
    provider === 'slack' && (name === undefined || name === 'Ops')
      ? createKey('c1', { secret: TOKEN })
      : null,
}
const INPUTS = { channel: ' #sales ', text: 'New lead: {{input.name}}' }
const row = { input: { name: 'Ada <b> "x"' } }

async function send(reply: Reply, inputs: object = {}) {
  const slack = await serveDouble(() => reply)
  const outcome = await runAction(
    'slack_send_message',
    { ...INPUTS, ...inputs },
    { row, keys, urls: { slack: slack.origin } },
  )
  return { outcome, seen: slack.seen }
}

describe('slack_send_message', () => {
  it('posts the message with the token of the connection', async () => {
    const { outcome, seen } = await send(
      { json: { ok: true, channel: 'C1', ts: '17.5' } },
      { thread: '16.1', connection: 'Ops' },
    )
    expect(outcome).toMatchObject({
      kind: 'done',
      outputs: { id: '17.5', channel_id: 'C1', delivered: true },
    })
    expect(seen).toMatchObject([
      { method: 'POST', path: '/chat.postMessage', headers: { authorization: `Bearer ${TOKEN}` } },
    ])
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
      channel: '#sales',
      text: 'New lead: Ada <b> "x"',
      thread_ts: '16.1',
    })
  })

  it.each<[string, Reply, object]>([
    [
      'an error inside a 200',
      { json: { ok: false, error: 'channel_not_found' } },
      { kind: 'failed', message: expect.stringMatching(/channel_not_found/) },
    ],
    [
      'a wrong token',
      { json: { ok: false, error: 'invalid_auth', token: TOKEN } },
      { kind: 'failed', message: expect.stringMatching(/the key was refused/) },
    ],
    [
      'too fast, in a 200',
      { json: { ok: false, error: 'ratelimited' }, headers: { 'retry-after': '3' } },
      { kind: 'retry', afterMs: 3000 },
    ],
    ['too fast', { status: 429, headers: { 'retry-after': '9' } }, { kind: 'retry', afterMs: 9000 }],
    ['broken', { status: 503, text: 'down' }, { kind: 'retry' }],
    [
      'an answer of another shape',
      { json: { ok: true } },
      { kind: 'failed', message: expect.stringMatching(/expected shape/) },
    ],
  ])('%s', async (_name, reply, expected) => {
    const { outcome } = await send(reply)
    expect(outcome).toMatchObject(expected)
    expect(JSON.stringify(outcome)).not.toContain(TOKEN)
  })

  it.each([
    [
      { connection: 'Other' },
      keys,
      'there is no connection "Other" to Slack; add it with loam connection add --provider slack',
    ],
    [{}, undefined, 'Slack is not connected; add it with loam connection add --provider slack'],
  ])('without a connection it is an error: %j', async (inputs, given, message) => {
    const settings = given === undefined ? { row } : { row, keys: given }
    expect(await runAction('slack_send_message', { ...INPUTS, ...inputs }, settings)).toEqual({
      kind: 'unrunnable',
      message,
    })
  })
})
