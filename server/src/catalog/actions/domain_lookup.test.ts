import { describe, expect, it, onTestFinished } from 'vitest'
import { serveHttp } from '#test/doubles/loopback-server.ts'
import { serveNames, type Zone } from '#test/doubles/name-server.ts'
import { parseEgressAllow } from '../../lib/egress/addresses.ts'
import { createEgress } from '../../lib/egress/egress.ts'
import { findMailProvider } from '../built-in/domains/mail-providers.ts'
import { useActions } from '../testing/run-action.ts'

const runAction = useActions()
const SERVFAIL = 2

const ACME = {
  objectClassName: 'domain',
  ldhName: 'ACME.EXAMPLE',
  events: [
    { eventAction: 'last changed', eventDate: '2025-01-01T00:00:00Z' },
    { eventAction: 'registration', eventDate: '1999-05-12T04:00:00Z' },
    { eventAction: 'expiration', eventDate: '2030-05-12T04:00:00Z' },
  ],
  entities: [
    { objectClassName: 'entity', roles: ['abuse'] },
    {
      roles: ['registrar'],
      handle: '292',
      vcardArray: [
        'vcard',
        [
          ['version', {}, 'text', '4.0'],
          ['fn', {}, 'text', 'Example Registrar, Inc.'],
        ],
      ],
    },
  ],
  nameservers: [{ ldhName: 'NS1.ACME.EXAMPLE.' }, { ldhName: 'NS2.ACME.EXAMPLE' }],
}

const ZONE: Zone = {
  'acme.example': {
    mx: [[1, 'acme-example.mail.protection.outlook.com']],
    txt: ['google-site-verification=x', 'v=spf1 include:spf.protection.outlook.com -all'],
    ns: ['ns2.acme.example', 'ns1.acme.example'],
  },
  '_dmarc.acme.example': { txt: ['v=DMARC1; p=reject'] },
}

type Setting = { zone?: Zone; status?: number; body?: unknown; state?: unknown }

async function lookUp(domain: string, { zone = ZONE, status = 200, body = ACME, state }: Setting = {}) {
  const asked: string[] = []
  const rdap = await serveHttp((request, response) => {
    asked.push(request.url ?? '')
    response
      .writeHead(status, { 'content-type': 'application/rdap+json' })
      .end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  const { server } = await serveNames(zone)
  const egress = createEgress({ allow: parseEgressAllow('127.0.0.1').entries, servers: [server] })
  onTestFinished(egress.close)
  const outcome = await runAction(
    'domain_lookup',
    { domain },
    { egress, urls: { rdap: rdap.origin }, ...(state === undefined ? {} : { state }) },
  )
  return { outcome, asked }
}

const NOTHING = {
  mx_provider: null,
  spf: null,
  dmarc: null,
  registrar: null,
  created: null,
  expires: null,
  nameservers: null,
}

describe('domain_lookup', () => {
  it.each(['acme.example', 'HTTPS://www.Acme.example/about', 'ann@acme.example'])(
    'returns all details of %s',
    async (domain) => {
      const { outcome, asked } = await lookUp(domain)
      expect(outcome).toMatchObject({
        kind: 'done',
        outputs: {
          mx_provider: 'Microsoft 365',
          spf: 'v=spf1 include:spf.protection.outlook.com -all',
          dmarc: 'v=DMARC1; p=reject',
          registrar: 'Example Registrar, Inc.',
          created: '1999-05-12T04:00:00.000Z',
          expires: '2030-05-12T04:00:00.000Z',
          nameservers: ['ns1.acme.example', 'ns2.acme.example'],
        },
        provenance: [
          { provider: 'dns', status: 'hit' },
          { provider: 'rdap', status: 'hit' },
        ],
      })
      expect(asked).toEqual(['/domain/acme.example'])
    },
  )

  it('a domain that does not exist has no answer, which is not a failure', async () => {
    const { outcome } = await lookUp('gone.example', { status: 404, body: '' })
    expect(outcome).toEqual({ kind: 'no_match' })
  })

  it.each<[string, Setting, object]>([
    ['a registry without RDAP', { status: 404, body: '' }, { mx_provider: 'Microsoft 365', registrar: null }],
    [
      'a domain without mail',
      { zone: { 'acme.example': { ns: ['ns1.acme.example'] } } },
      {
        ...NOTHING,
        registrar: 'Example Registrar, Inc.',
        created: expect.any(String),
        expires: expect.any(String),
        nameservers: ['ns1.acme.example'],
      },
    ],
    ['a domain that takes no mail', { zone: { 'acme.example': { mx: [[0, '']] } } }, { mx_provider: null }],
    [
      'a registered name that is not served',
      { zone: {} },
      { mx_provider: null, nameservers: ['ns1.acme.example', 'ns2.acme.example'] },
    ],
    [
      'RDAP without names and dates',
      { body: { events: 'none', entities: [{ roles: ['registrar'], handle: 'X-1' }], nameservers: null } },
      { registrar: 'X-1', created: null },
    ],
  ])('copes with %s', async (_what, setting, outputs) => {
    expect((await lookUp('acme.example', setting)).outcome).toMatchObject({ kind: 'done', outputs })
  })

  it.each<[string, Setting]>([
    ['RDAP fails', { status: 503, body: '' }],
    ['RDAP answers nonsense', { body: '<html>' }],
    ['name servers fail', { zone: { 'acme.example': { code: SERVFAIL } } }],
  ])('asks once more when %s, and then tells what it has', async (_what, setting) => {
    const first = (await lookUp('acme.example', setting)).outcome
    expect(first).toMatchObject({ kind: 'wait', state: 2 })
    // The backoff is two seconds, half of them random.
    expect(first.kind === 'wait' ? first.ms : 0).toSatisfy((ms: number) => ms >= 1000 && ms <= 2000)
    const { outcome } = await lookUp('acme.example', { ...setting, state: 2 })
    expect(outcome).toMatchObject({
      kind: 'done',
      provenance: expect.arrayContaining([expect.objectContaining({ status: 'error' })]),
    })
  })

  it('is retried when no server answers', async () => {
    const setting = { zone: { 'acme.example': { code: SERVFAIL } }, status: 500, body: '', state: 2 }
    expect((await lookUp('acme.example', setting)).outcome).toMatchObject({ kind: 'retry' })
  })

  it.each(['127.0.0.1', 'http://[::1]/', 'no domain'])('of %s fails', async (domain) => {
    expect((await lookUp(domain)).outcome).toMatchObject({
      kind: 'failed',
      message: expect.stringContaining('is not a domain name'),
    })
  })
})

it.each([
  ['aspmx.l.google.com.', 'Google Workspace'],
  ['mx.acme.example', 'self-hosted'],
  ['acme.example', 'self-hosted'],
  ['in.mail.unknownhost.co.uk', 'unknownhost.co.uk'],
  ['notgoogle.com', 'notgoogle.com'],
  ['', null],
])('the mail server %s belongs to %s', (exchange, provider) => {
  expect(findMailProvider(exchange, 'acme.example')).toBe(provider)
})
