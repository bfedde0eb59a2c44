import { describe, expect, it, onTestFinished } from 'vitest'
import { serveNames, type Zone } from '#test/doubles/name-server.ts'
import { parseEgressAllow } from '../../lib/egress/addresses.ts'
import { createEgress } from '../../lib/egress/egress.ts'
import { type MailRules, serveMail } from '../testing/mail-server.ts'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()
const SERVFAIL = 2

const ZONE: Zone = {
  'acme.example': {
    mx: [
      [20, 'backup.acme.example'],
      [10, 'mx.acme.example'],
    ],
  },
  'mx.acme.example': { a: ['127.0.0.1'] },
  'backup.acme.example': { a: ['127.0.0.1'] },
  'implicit.example': { a: ['127.0.0.1'] },
  'nullmx.example': { mx: [[0, '']], a: ['127.0.0.1'] },
  'nothing.example': { txt: ['v=spf1 -all'] },
  'broken.example': { code: SERVFAIL },
  'inside.example': { mx: [[10, 'mx.inside.example']] },
  'mx.inside.example': { a: ['10.1.2.3'] },
  'dead.example': { mx: [[10, 'mx.dead.example']] },
  'mx.dead.example': {},
  'xn--bcher-kva.example': { mx: [[10, 'mx.acme.example']] },
}

type Setting = MailRules & { probe?: false; zone?: Zone }

async function verify(email: string, { probe, zone = ZONE, ...rules }: Setting = {}) {
  const mail = await serveMail({
    mailboxes: ['ann@acme.example', 'info@acme.example', 'ann@implicit.example', 'ann@xn--bcher-kva.example'],
    ...rules,
  })
  const names = await serveNames(zone)
  const egress = createEgress({
    allow: parseEgressAllow('127.0.0.1').entries,
    servers: [names.server],
    smtpProbe: { port: probe === false ? 0 : mail.port, name: 'loam.test' },
  })
  onTestFinished(egress.close)
  const outcome = await runAction('verify_email', { email }, { egress })
  if (outcome.kind !== 'done') throw new Error(JSON.stringify(outcome))
  return { outputs: outcome.outputs, provenance: outcome.provenance, mail, names }
}

describe('verify_email by the built-in provider', () => {
  it.each<[string, string, RegExp, string | null]>([
    ['ann@acme.example', 'valid', /accepts it/, 'mx.acme.example'],
    [' Ann@Acme.Example ', 'invalid', /does not exist/, 'mx.acme.example'],
    ['nobody@acme.example', 'invalid', /550 5\.1\.1/, 'mx.acme.example'],
    ['info@acme.example', 'role', /function/, 'mx.acme.example'],
    ['no-reply@acme.example', 'invalid', /does not exist/, 'mx.acme.example'],
    ['ann@implicit.example', 'valid', /accepts it/, 'implicit.example'],
    ['ann@bücher.example', 'valid', /accepts it/, 'mx.acme.example'],
    ['ann@nullmx.example', 'invalid', /takes no mail/, null],
    ['ann@nothing.example', 'invalid', /has no mail server/, null],
    ['ann@gone.example', 'invalid', /does not exist/, null],
    ['ann@broken.example', 'unknown', /ESERVFAIL/, null],
    ['ann@dead.example', 'unknown', /cannot be reached \(dns\)/, 'mx.dead.example'],
    ['ann@mailinator.com', 'disposable', /for a short time/, null],
    ['ann@x.mailinator.com', 'disposable', /for a short time/, null],
    ['jörg@acme.example', 'unknown', /beyond ASCII/, 'mx.acme.example'],
  ])('%s is %s', async (email, status, reason, mx) => {
    const { outputs } = await verify(email)
    expect(outputs).toEqual({ status, reason: expect.stringMatching(reason), mx, provider: 'Built-in' })
  })

  it.each([
    'ann',
    '@acme.example',
    'ann@',
    'ann@acme',
    'ann@127.0.0.1',
    'ann@[127.0.0.1]',
    'a b@acme.example',
    'ann@acme..example',
    'ann@-acme.example',
    'ann..lee@acme.example',
    'ann@acme.example\r\nRCPT TO:<eve@acme.example>',
    `${'a'.repeat(65)}@acme.example`,
    'ann>@acme.example',
  ])('%j is invalid by its form, and nobody is asked', async (email) => {
    const { outputs, mail, names } = await verify(email)
    expect(outputs).toMatchObject({ status: 'invalid', mx: null })
    expect([mail.accepted(), names.asked]).toEqual([0, []])
  })

  it('says hello, asks about the address and an unknown one, and sends nothing', async () => {
    const { mail } = await verify('ann@acme.example')
    await expect.poll(() => mail.said).toHaveLength(5)
    expect(mail.said).toEqual([
      'EHLO loam.test',
      'MAIL FROM:<>',
      'RCPT TO:<ann@acme.example>',
      expect.stringMatching(/^RCPT TO:<loam-[0-9a-f]{16}@acme\.example>$/),
      'QUIT',
    ])
  })

  it.each<[string, Setting, string, RegExp]>([
    ['accepts everybody', { rcpt: () => '250 OK' }, 'catch_all', /every name/],
    ['greylists', { rcpt: () => '451 4.7.1 Greylisted, try again later' }, 'unknown', /Greylisted.*later/],
    [
      'greylists strangers only',
      { rcpt: (to) => (to.startsWith('ann@') ? '250 OK' : '450 later') },
      'unknown',
      /other names/,
    ],
    [
      'refuses this host',
      { rcpt: () => '550 5.7.1 Client host blocked using a blacklist' },
      'unknown',
      /blocked/,
    ],
    ['refuses by policy without a code', { rcpt: () => '554 Relay access denied' }, 'unknown', /denied/],
    ['refuses with a bare code', { rcpt: () => '550 No such user here' }, 'invalid', /No such user/],
    [
      'speaks like Microsoft 365',
      { rcpt: () => '550 5.4.1 Recipient address rejected: Access denied.' },
      'invalid',
      /rejected/,
    ],
    ['has a full mailbox', { rcpt: () => '552 5.2.2 Mailbox full' }, 'unknown', /full/],
    ['can only promise', { rcpt: () => '252 cannot verify' }, 'unknown', /252/],
    [
      'wants encryption first',
      { replies: { 'mail from': '530 Must issue a STARTTLS command first' } },
      'unknown',
      /530/,
    ],
    ['knows no EHLO', { replies: { ehlo: '502 what' } }, 'valid', /accepts/],
    ['does not want to talk', { greeting: '554 no service' }, 'unknown', /554/],
    ['is a web server', { greeting: 'HTTP/1.1 400 Bad Request' }, 'unknown', /no answer/],
    ['hangs up at once', { onSocket: (socket) => socket.end() }, 'unknown', /no answer/],
    [
      'talks without end',
      { onSocket: (socket) => void socket.write('220-x\r\n'.repeat(20_000)) },
      'unknown',
      /no answer/,
    ],
    ['is not to be asked', { probe: false }, 'unknown', /not asked/],
  ])('a mail server that %s', async (_what, setting, status, reason) => {
    const { outputs } = await verify('ann@acme.example', setting)
    expect(outputs).toMatchObject({ status, reason: expect.stringMatching(reason) })
  })

  it('tries the next mail server if the first cannot be reached', async () => {
    const zone = { ...ZONE, 'mx.acme.example': {} }
    const { outputs } = await verify('ann@acme.example', { zone })
    expect(outputs).toMatchObject({ status: 'valid', mx: 'mx.acme.example' })
  })

  it('never connects to a mail server inside the network (SSRF), and never calls that valid', async () => {
    const { outputs, mail } = await verify('ann@inside.example')
    expect(outputs).toMatchObject({
      status: 'unknown',
      reason: 'the mail server cannot be reached (refused_address)',
    })
    expect(mail.accepted()).toBe(0)
  })
})

describe('verify_email asks providers in order', () => {
  it('and skips those without a key', async () => {
    const outcome = await runAction('verify_email', {
      email: 'ann@mailinator.com',
      providers: ['ZeroBounce', 'Built-in', 'Hunter'],
    })
    expect(outcome).toMatchObject({
      kind: 'done',
      outputs: { status: 'disposable', provider: 'Built-in' },
      provenance: [
        { provider: expect.stringMatching(/zerobounce/i), status: 'unconfigured', credits: 0 },
        { provider: expect.stringMatching(/built/i), status: 'hit' },
      ],
    })
  })

  it('D71: and is an error that says what to set if none can be called', async () => {
    const outcome = await runAction('verify_email', { email: 'ann@acme.example', providers: ['zerobounce'] })
    expect(outcome).toMatchObject({
      kind: 'unrunnable',
      message:
        'none of its providers can be asked. ZeroBounce: set LOAM_PROVIDER_KEY_ZEROBOUNCE, or connect it with loam connection add --provider zerobounce and list it as {"name": "ZeroBounce", "use_own_key": true}',
      provenance: [{ status: 'unconfigured' }],
    })
  })
})
