import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineProvider, type Provider } from '#server/catalog/provider/provider.ts'
import { loadProviders } from '#server/catalog/providers/registry.ts'
import { makeAskContext, serveDouble } from '#server/catalog/testing/provider-double.ts'
import { makeRowSheet } from '#test/builders/rows.ts'
import { makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { createRunEnvironment } from '../runs/run-environment.ts'
import { openConnection } from './connection-keys.ts'
import { addConnection, type NewConnection, pickProvider, removeConnection } from './connections.ts'
import { OPERATOR } from './store/audit.ts'
import { claimToken, findConnection } from './store/connections.ts'
import { findMember } from './store/members.ts'

const app = await makeApp()
const { sealer, store } = app.services
const db = store.system
const providers = await loadProviders()
const hunter = pickProvider(providers, 'Hunter')

async function connect(org: TestOrg, more: Partial<NewConnection> = {}) {
  const given = { orgId: org.orgId, provider: hunter, name: 'Main', ownerId: null, shared: true }
  return addConnection(db, sealer, OPERATOR, { ...given, fields: { secret: 'k-1' }, ...more })
}
const memberOf = async (org: TestOrg, email: string, role = 'member') => {
  const key = await org.keyFor(email, role)
  return { key, id: (await findMember(db, org.orgId, email))?.member_id ?? '' }
}

/** Creates a workflow that calls Hunter with its own key. Returns its id and the codes of the warnings. */
async function makeWorkflow(org: TestOrg, own: unknown = { name: 'Hunter', use_own_key: true }) {
  const base = await makeRowSheet(org, ['name', 'domain'])
  const { body } = await org.call('POST', `${base}/actions/add`, {
    action_id: 'person_work_email_waterfall',
    inputs: { full_name: '{{input.name}}', company_domain: '{{input.domain}}', email_providers: [own] },
  })
  const codes: string[] = body.warnings.map((warning: { code: string }) => warning.code)
  return { id: base.split('/')[2] ?? '', codes, base }
}

it('4.5 options list providers with their key rules and prices', async () => {
  const org = await app.makeOrg()
  const { base } = await makeWorkflow(org)
  const path = `${base}/actions/person_work_email_waterfall_1/options/email_providers`
  const { body } = await org.call('POST', path, {})
  const extras = { supports_own_key: true, requires_own_key: false, credits: 1 }
  expect(body.data.options).toContainEqual({ value: 'Hunter', label: 'Hunter', extras })
  expect(body.data.options).toContainEqual({
    value: 'Built-in pattern',
    label: 'Built-in pattern',
    extras: { supports_own_key: false, requires_own_key: false, credits: 0.1 },
  })
})

describe('own-key warnings', () => {
  it('not connected, connected, connected several times', async () => {
    const org = await app.makeOrg()
    expect((await makeWorkflow(org)).codes).toEqual(['provider_not_configured', 'own_key_required'])
    const { connection_id } = await connect(org)
    expect((await makeWorkflow(org)).codes).toEqual([])
    await connect(org, { name: 'Second' })
    expect((await makeWorkflow(org)).codes).toEqual(['ambiguous_provider'])
    await removeConnection(db, OPERATOR, connection_id)
    expect((await makeWorkflow(org)).codes).toEqual([])
    expect((await makeWorkflow(org, { name: 'Built-in pattern', use_own_key: true })).codes).toEqual([
      'unsupported_own_key',
    ])
  })

  it("a private connection is only for its owner's workflows", async () => {
    const org = await app.makeOrg()
    const bob = await memberOf(org, 'bob@example.com')
    await connect(org, { ownerId: bob.id, shared: false })
    expect((await makeWorkflow(org)).codes).toEqual(['provider_not_configured', 'own_key_required'])
    expect((await makeWorkflow({ ...org, call: (...args) => app.call(bob.key, ...args) })).codes).toEqual([])
  })

  it('an organisation does not see those of another', async () => {
    await connect(await app.makeOrg())
    expect((await makeWorkflow(await app.makeOrg())).codes).toEqual([
      'provider_not_configured',
      'own_key_required',
    ])
  })
})

describe('4.1 Remove Member withdraws credentials that they shared', () => {
  const remove = async (org: TestOrg) =>
    (await org.call('DELETE', '/org/members?email=bob@example.com')).body.data.warnings

  it('WORKFLOWS_LOST_CONNECTION names the workflows left without a connection', async () => {
    const org = await app.makeOrg()
    const bob = await memberOf(org, 'bob@example.com')
    const { connection_id } = await connect(org, { ownerId: bob.id })
    const { id } = await makeWorkflow(org)
    await makeWorkflow(org, 'Hunter')
    expect(await remove(org)).toEqual([
      {
        code: 'WORKFLOWS_LOST_CONNECTION',
        message: expect.stringContaining('1 workflow runs on a connection'),
        resources: [{ id, name: 'Rows', type: 'workflow' }],
      },
    ])
    expect(await findConnection(db, connection_id)).toBeUndefined()
  })

  it('no warning if another connection is left', async () => {
    const org = await app.makeOrg()
    const bob = await memberOf(org, 'bob@example.com')
    await connect(org, { ownerId: bob.id })
    const kept = await connect(org, { name: 'Ours' })
    await makeWorkflow(org)
    expect(await remove(org)).toEqual([])
    expect(await findConnection(db, kept.connection_id)).toBeDefined()
  })
})

describe('adding', () => {
  it.each<[string, Partial<NewConnection>, string]>([
    ['no key', { fields: {} }, 'Hunter needs --secret'],
    ['an empty key', { fields: { secret: ' ' } }, 'must not be empty'],
    [
      'a field it does not take',
      { fields: { secret: 'k', region: 'eu' } },
      'Hunter takes: secret; not region',
    ],
    [
      'a part of the fields',
      { provider: pickProvider(providers, 'snov'), fields: { client_id: 'x' } },
      'client_secret',
    ],
    ['no owner to keep it for', { shared: false }, 'member who owns'],
  ])('refuses %s', async (_what, more, words) => {
    const refusal: unknown = await connect(await app.makeOrg(), more).catch((cause: unknown) => cause)
    expect(refusal).toMatchObject({ details: { errors: [{ message: expect.stringContaining(words) }] } })
  })

  it('a name can be used once for a provider', async () => {
    const org = await app.makeOrg()
    await connect(org)
    await expect(connect(org, { name: 'MAIN' })).rejects.toThrow('A connection MAIN to Hunter exists already')
    await connect(org, { provider: pickProvider(providers, 'prospeo') })
  })

  it('an unknown provider is refused with the list of known ones', () => {
    expect(() => pickProvider(providers, 'nobody')).toThrow(
      expect.objectContaining({
        details: { errors: [{ field: 'provider', message: expect.stringContaining('hunter') }] },
      }),
    )
  })
})

describe('run time', () => {
  it('the first of several connections is used, or the one that is named', async () => {
    const org = await app.makeOrg()
    const { id: sheet_id } = await makeWorkflow(org)
    await connect(org, { fields: { secret: 'first' } })
    const second = await connect(org, { name: 'Second', fields: { secret: 'second' } })
    const environment = createRunEnvironment(store, sealer, new Map([['hunter', 'platform key']]))
    const keys = environment.keysOf({ org_id: org.orgId, sheet_id })
    const secretOf = async (...args: [string, string?]) => (await keys.own(...args))?.fields['secret']
    expect([
      await secretOf('hunter'),
      await secretOf('hunter', 'second'),
      await secretOf('hunter', second.connection_id),
    ]).toEqual(['first', 'second', 'second'])
    expect([await secretOf('hunter', 'third'), await secretOf('prospeo')]).toEqual([undefined, undefined])
    expect([keys.platform('hunter')?.fields, keys.platform('prospeo')]).toEqual([
      { secret: 'platform key' },
      null,
    ])
  })
})

describe('tokens created from a refresh token', () => {
  const provider: Provider = defineProvider({
    id: 'crm',
    name: 'CRM',
    evidence: 'this test',
    baseUrl: 'https://crm.example',
    auth: { kind: 'oauth', grant: 'refresh_token', tokenUrl: 'https://login.example/oauth/token' },
  })
  const FIELDS = { client_id: 'id', client_secret: 'cs', refresh_token: 'r-1' }

  /** Starts a CRM that issues tokens and accepts only the latest. `expires` is their lifetime. */
  async function setUp(expires: number) {
    let made = 0
    const double = await serveDouble(({ path, headers }) => {
      if (path === '/oauth/token') {
        made += 1
        return { json: { access_token: `t-${made}`, expires_in: expires, refresh_token: `r-${made + 1}` } }
      }
      return headers['authorization'] === `Bearer t-${made}` ? { json: { ok: true } } : { status: 401 }
    })
    const org = await app.makeOrg()
    const { connection_id } = await connect(org, { provider, fields: FIELDS })
    const context = makeAskContext({ crm: double.origin })
    /** Asks as another process would: with the connection read again. */
    const ask = async () => {
      const record = await findConnection(db, connection_id)
      const key = record === undefined ? null : openConnection(db, sealer, record)
      if (key === null) throw new Error('the connection is gone')
      return provider.request(context, key, { path: '/me' }, z.object({ ok: z.literal(true) }))
    }
    const tokens = () => double.seen.filter(({ path }) => path === '/oauth/token').map(({ body }) => body)
    return { ask, tokens, forget: () => void (made += 1) }
  }

  it('are created once, however many cells ask at once, and used until shortly before they expire', async () => {
    const { ask, tokens } = await setUp(3600)
    const answers = await Promise.all(Array.from({ length: 10 }, ask))
    expect(answers.every(({ ok }) => ok)).toBe(true)
    expect((await ask()).ok).toBe(true)
    expect(tokens()).toEqual(['grant_type=refresh_token&client_id=id&client_secret=cs&refresh_token=r-1'])
  })

  it('are renewed when they are about to expire, with the latest refresh token', async () => {
    const { ask, tokens } = await setUp(30)
    expect([(await ask()).ok, (await ask()).ok]).toEqual([true, true])
    expect(tokens().map((body) => new URLSearchParams(body).get('refresh_token'))).toEqual(['r-1', 'r-2'])
  })

  it('a token refused before it expires is renewed once', async () => {
    const { ask, tokens, forget } = await setUp(3600)
    await ask()
    forget()
    expect(await ask()).toMatchObject({ ok: true })
    expect(tokens()).toHaveLength(2)
  })

  /** Opens the connection as another process would. */
  async function reopen(connectionId: string) {
    const record = await findConnection(db, connectionId)
    const key = record === undefined ? null : openConnection(db, sealer, record)
    if (record === undefined || key === null) throw new Error('the connection is gone')
    return { record, key }
  }
  const madeOf = (token: string) => ({ ok: true, token, expiresInSeconds: 3600 }) as const
  const connectCrm = async () => connect(await app.makeOrg(), { provider, fields: FIELDS })

  it('no lock is held while the provider is asked: the connection can be changed', async () => {
    const { connection_id } = await connectCrm()
    const { key } = await reopen(connection_id)
    const answer = await key.token(async () => {
      await db
        .updateTable('connections')
        .set({ name: 'Other' })
        .where('connection_id', '=', connection_id)
        .execute()
      return madeOf('t-1')
    })
    expect(answer).toEqual({ ok: true, token: 't-1' })
    expect(await findConnection(db, connection_id)).toMatchObject({ name: 'Other', token_claim: null })
  })

  it('after a crash during a renewal the others wait only until the claim ends', async () => {
    const { connection_id } = await connectCrm()
    const { record, key } = await reopen(connection_id)
    await claimToken(db, record, { claim: randomUUID(), seconds: 1 })
    const calls: number[] = []
    const started = Date.now()
    const make = async () => {
      calls.push(Date.now() - started)
      return madeOf('t-1')
    }
    expect(await key.token(make)).toEqual({ ok: true, token: 't-1' })
    expect(calls).toHaveLength(1)
    expect(calls[0]).toBeGreaterThan(900)
  })

  it('a process slower than its claim uses the token stored in the meantime', async () => {
    const { connection_id } = await connectCrm()
    const [slow, other] = [await reopen(connection_id), await reopen(connection_id)]
    const answer = await slow.key.token(async () => {
      await db
        .updateTable('connections')
        .set({ token_claimed_until: new Date(0) })
        .where('connection_id', '=', connection_id)
        .execute()
      await other.key.token(async () => madeOf('t-other'))
      return madeOf('t-slow')
    })
    expect(answer).toEqual({ ok: true, token: 't-other' })
    const later = await reopen(connection_id)
    expect(await later.key.token(async () => madeOf('t-later'))).toEqual({ ok: true, token: 't-other' })
  })

  it('after a failed renewal the next process tries at once', async () => {
    const { connection_id } = await connectCrm()
    const { key } = await reopen(connection_id)
    const refused = await key.token(async () => ({ ok: false, refusal: 'no' }) as const)
    const broken: unknown = await key
      .token(() => Promise.reject(new Error('down')))
      .catch((cause: unknown) => cause)
    expect([refused, broken]).toEqual([{ ok: false, refusal: 'no' }, new Error('down')])
    expect(await key.token(async () => madeOf('t-1'))).toEqual({ ok: true, token: 't-1' })
  })

  it('a refused refresh token counts as a refused key', async () => {
    const double = await serveDouble(() => ({
      status: 400,
      json: { error: 'invalid_grant', hint: 'r-secret' },
    }))
    const org = await app.makeOrg()
    const fields = { ...FIELDS, refresh_token: 'r-secret' }
    const { connection_id } = await connect(org, { provider, fields })
    const record = await findConnection(db, connection_id)
    const key = record === undefined ? null : openConnection(db, sealer, record)
    if (key === null) throw new Error('the connection is gone')
    const answer = await provider.request(
      makeAskContext({ crm: double.origin }),
      key,
      { path: '/me' },
      z.unknown(),
    )
    expect(answer).toMatchObject({ ok: false, refusal: { kind: 'unconfigured' } })
    expect(JSON.stringify(answer)).not.toContain('r-secret')
  })
})
