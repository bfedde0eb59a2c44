import type { SMTPServerOptions } from 'smtp-server'
import { describe, expect, it } from 'vitest'
import { serveSmtp } from '#test/doubles/mail-server.ts'
import { createKey, type ProviderKeys } from '../provider/access.ts'
import { type Settings, useActions } from '../testing/run-action.ts'

const runAction = useActions()

const INPUTS = {
  to: '{{input.email}}',
  subject: 'Hello {{input.name}}',
  body: 'Dear {{input.name}},\n.\nBye.',
}
const row = { input: { email: 'ada@example.com', name: 'Ada' } }
const PASSWORD = 'p4ss-w0rd'

const connected = (fields: Record<string, string>): ProviderKeys => ({
  platform: () => null,
  own: async (provider) => (provider === 'smtp' ? createKey('c1', fields) : null),
})

const send = (inputs: object, settings: Settings) =>
  runAction('send_email', { ...INPUTS, ...inputs }, { row, ...settings })

describe('send_email', () => {
  it("goes over the organisation's own server, and over the installation's otherwise", async () => {
    const own = await serveSmtp()
    const installation = await serveSmtp()
    const mailUrl = installation.url
    expect(
      await send({}, { mailUrl, keys: connected({ url: own.url, from: 'Sales <sales@acme.example>' }) }),
    ).toMatchObject({
      kind: 'done',
      outputs: { id: expect.stringMatching(/^<[0-9a-f]{32}@acme\.example>$/), delivered: true },
    })
    expect(own.received).toMatchObject([{ from: 'sales@acme.example', to: ['ada@example.com'] }])
    expect(own.received[0]?.text).toMatch(/^Subject: Hello Ada\r$/m)
    expect(own.received[0]?.text).toMatch(/\r\n\r\nDear Ada,\r\n\.\r\nBye\.\r\n$/)
    expect(await send({}, { mailUrl })).toMatchObject({ kind: 'done' })
    expect(installation.received).toMatchObject([{ from: 'loam@loam.test' }])
    expect(own.received).toHaveLength(1)
  })

  it('several recipients, HTML, and the address for replies', async () => {
    const { url, received } = await serveSmtp()
    const inputs = {
      to: 'a@x.example, b@x.example;',
      format: 'html',
      body: '<b>Hi</b>',
      reply_to: 'me@x.example',
    }
    expect(await send(inputs, { keys: connected({ url }) })).toMatchObject({ kind: 'done' })
    expect(received[0]?.to).toEqual(['a@x.example', 'b@x.example'])
    expect(received[0]?.text).toMatch(/^Content-Type: text\/html/m)
    expect(received[0]?.text).toMatch(/^Reply-To: me@x\.example\r$/m)
  })

  it("over the installation's server replies go to the member and to nobody else", async () => {
    const { url, received } = await serveSmtp()
    expect(await send({}, { mailUrl: url })).toMatchObject({ kind: 'done' })
    expect(received[0]?.text).toMatch(/^Reply-To: member@loam\.test\r$/m)
    expect(await send({ reply_to: 'other@x.example' }, { mailUrl: url })).toEqual({
      kind: 'failed',
      message: expect.stringMatching(/answers go to the member who started the run/),
    })
    expect(received).toHaveLength(1)
  })

  it("waits for the next hour when the organisation's share of the installation's server is exhausted", async () => {
    const { url, received } = await serveSmtp()
    const inputs = { to: 'a@x.example, b@x.example' }
    expect(await send(inputs, { mailUrl: url, mailsLeft: 1 })).toMatchObject({ kind: 'wait', ms: 60_000 })
    expect(received).toHaveLength(0)
    expect(await send(inputs, { keys: connected({ url }), mailsLeft: 1 })).toMatchObject({ kind: 'done' })
  })

  it('accepts at most 50 recipients', async () => {
    const { url, received } = await serveSmtp()
    const to = Array.from({ length: 51 }, (_, n) => `p${n}@x.example`).join(',')
    expect(await send({ to }, { mailUrl: url })).toMatchObject({ kind: 'failed' })
    expect(received).toHaveLength(0)
  })

  it('a Message-ID is the same in every try, and values of the row add no headers', async () => {
    const { url, received } = await serveSmtp()
    const name = 'Ada\r\nBcc: victim@example.com'
    const attacked = { row: { input: { ...row.input, name } }, mailUrl: url }
    await send({}, attacked)
    await send({}, attacked)
    const ids = received.map(({ text }) => /^Message-ID: (.+)\r$/m.exec(text)?.[1])
    expect(ids[0]).toBe(ids[1])
    expect(received.flatMap(({ to }) => to)).not.toContain('victim@example.com')
    expect(received[0]?.text.split('\r\n\r\n')[0]).not.toMatch(/^Bcc:/im)
  })

  const refusing = (code: number): SMTPServerOptions => ({
    onRcptTo: (_address, _session, done) =>
      done(Object.assign(new Error(`no, says ${code}`), { responseCode: code })),
  })
  it.each<[string, SMTPServerOptions, object]>([
    ['refused for now', refusing(451), { kind: 'retry', message: expect.stringMatching(/says 451/) }],
    ['refused for good', refusing(550), { kind: 'failed', message: expect.stringMatching(/says 550/) }],
    [
      'a wrong password',
      { onAuth: (auth, _session, done) => done(new Error(`wrong ${auth.password}`)) },
      { kind: 'failed', message: expect.stringMatching(/did not take it/) },
    ],
  ])('%s', async (_name, options, expected) => {
    const { url } = await serveSmtp(options, options.onAuth === undefined ? '' : `me:${PASSWORD}@`)
    const outcome = await send({}, { keys: connected({ url }) })
    expect(outcome).toMatchObject(expected)
    expect(JSON.stringify(outcome)).not.toContain(PASSWORD)
  })

  it('logs in as the user of the address, who is the sender if none is named', async () => {
    const seen: unknown[] = []
    const onAuth: SMTPServerOptions['onAuth'] = ({ username, password }, _session, done) => {
      seen.push([username, password])
      done(null, { user: username })
    }
    const { url, received } = await serveSmtp({ onAuth }, 'post%40acme.example:5%%2F@')
    expect(await send({}, { keys: connected({ secret: url }) })).toMatchObject({ kind: 'done' })
    expect(seen).toEqual([['post@acme.example', '5%/']])
    expect(received[0]?.from).toBe('post@acme.example')
  })

  it("a server that a user gave is reached through the guard only; the installation's own may be anywhere", async () => {
    const url = 'smtp://[::1]:25'
    const message = expect.stringMatching(/::1 port 25: refused, because this is a loopback address/)
    expect(await send({}, { keys: connected({ url }) })).toEqual({ kind: 'failed', message })
  })

  it.each<[object, Settings, object]>([
    [{ to: 'not an address' }, {}, { kind: 'failed', message: '"not an address" is no email address' }],
    [{ reply_to: 'x@y z' }, {}, { kind: 'failed', message: '"x@y z" is no email address' }],
    [{}, {}, { kind: 'unrunnable', message: expect.stringMatching(/set LOAM_SMTP_URL/) }],
    [{ connection: 'Sales' }, {}, { kind: 'unrunnable', message: 'there is no connection "Sales" to smtp' }],
    [
      {},
      { keys: connected({ url: 'http://x' }) },
      { kind: 'unrunnable', message: expect.stringMatching(/must be given as smtp:/) },
    ],
    [
      {},
      { keys: connected({ url: 'smtp://127.0.0.1:1' }) },
      { kind: 'retry', message: expect.stringMatching(/no connection/) },
    ],
  ])('%j', async (inputs, settings, expected) => {
    expect(await send(inputs, settings)).toMatchObject(expected)
  })
})
