import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { scopesOfRole } from '#contract/scopes.ts'
import { newestSchemaVersion } from '#server/database/connection/migrate.ts'
import { addMember } from '#server/organisation/members.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { expireKey } from '#server/organisation/store/keys.ts'
import { type Json, makeApp, makeStore } from '#test/plumbing/harness.ts'
import { runLoam } from './testing/loam.ts'

const app = await makeApp()
const folder = mkdtempSync(join(tmpdir(), 'loam-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ENV = {
  DATABASE_URL: app.databaseUrl,
  LOAM_SECRET: 'a secret for tests only',
  LOAM_DATA_DIR: folder,
  LOAM_INITIAL_CREDITS: '10',
}

const loam = (args: string[], env: Record<string, string> = {}) => runLoam(args, { ...ENV, ...env })

/** Runs a successful command and returns its JSON. */
async function runCommand(...args: string[]): Promise<Json> {
  const { exit, stdout, stderr } = await loam([...args, '--json'])
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' })
  return JSON.parse(stdout)
}

/** Runs a failing command and returns its exit code and the object on stderr. Nothing may be on stdout. */
async function runFailing(args: string[], env: Record<string, string> = {}): Promise<Json> {
  const { exit, stdout, stderr } = await loam(['--json', ...args], env)
  expect(stdout).toBe('')
  return { exit, ...JSON.parse(stderr) }
}

const statusOf = async (key: string) => (await app.call(key, 'GET', '/user/')).status

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/
const KEY = /^loam_[0-9A-Za-z]{40}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const NOBODY = '00000000-0000-7000-8000-000000000000'
const WORKFLOW = '01890000-0000-7000-8000-000000000001'

describe('one organisation', () => {
  let orgId = ''
  let adminKey = ''

  it('without an organisation lists are empty and a balance is not found', async () => {
    expect(await runCommand('org', 'list')).toEqual([])
    expect(await runFailing(['credits', 'balance'])).toMatchObject({ exit: 3, error: 'Not Found' })
  })

  it('D57: org create prints org_id, admin_email and a key that works', async () => {
    const made = await runCommand('org', 'create', '--name', ' Acme ', '--admin-email', 'Ann@Example.com')
    expect(made).toEqual({
      org_id: expect.stringMatching(UUID),
      admin_email: 'ann@example.com',
      key: expect.stringMatching(KEY),
    })
    ;({ org_id: orgId, key: adminKey } = made)
    expect(await statusOf(adminKey)).toBe(200)
    expect(await runCommand('org', 'list')).toEqual([{ org_id: orgId, name: 'Acme' }])
  })

  it('D57: member add prints email and role; adding twice is a conflict', async () => {
    const add = ['member', 'add', '--email', 'bob@example.com', '--role', 'member']
    expect(await runCommand(...add)).toEqual({ email: 'bob@example.com', role: 'member' })
    expect(await runFailing(add)).toMatchObject({ exit: 4, error: 'ALREADY_MEMBER' })
    expect(await runCommand('member', 'list')).toEqual([
      { email: 'ann@example.com', role: 'admin', first_name: null, last_name: null },
      { email: 'bob@example.com', role: 'member', first_name: null, last_name: null },
    ])
  })

  it('D48: invitation list has the link, whose token accepts once', async () => {
    await app.call(adminKey, 'POST', '/org/members', { email: 'eve@example.com', role: 'member' })
    const [invitation, ...others] = await runCommand('invitation', 'list')
    expect(others).toEqual([])
    expect(invitation).toEqual({
      email: 'eve@example.com',
      role: 'member',
      created_at: expect.stringMatching(TIME),
      email_sent: false,
      link: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8787\/invitations\/\w{32}$/),
    })
    const accept = [
      'invitation',
      'accept',
      '--first-name',
      'Eve',
      '--token',
      invitation.link.split('/').at(-1),
    ]
    expect(await runCommand(...accept)).toEqual({ email: 'eve@example.com', role: 'member', org_id: orgId })
    expect(await runFailing(accept)).toMatchObject({ exit: 3, message: 'Invitation not found' })
  })

  it('key create grants what the role permits, or what was asked for (D11, D59)', async () => {
    const full = await runCommand('key', 'create', '--email', 'BOB@example.com')
    expect(full).toEqual({
      key_id: expect.stringMatching(UUID),
      key: expect.stringMatching(KEY),
      scopes: scopesOfRole('member'),
    })
    const flags = [
      '--scopes',
      'workflows:read, apps:run',
      '--allowed-workflows',
      WORKFLOW,
      '--rate-limit',
      '7',
    ]
    const narrow = await runCommand('key', 'create', '--email', 'bob@example.com', ...flags)
    expect(narrow.scopes).toEqual(['workflows:read', 'shortcuts:run'])
    const answer = await app.call(narrow.key, 'GET', '/user/')
    expect(answer).toMatchObject({ status: 200, headers: { 'x-ratelimit-limit': '7' } })

    const listed = await runCommand('key', 'list', '--email', 'bob@example.com')
    expect(listed).toHaveLength(2)
    expect(listed[1]).toEqual({
      key_id: narrow.key_id,
      email: 'bob@example.com',
      last4: narrow.key.slice(-4),
      scopes: ['workflows:read', 'shortcuts:run'],
      allowed_workflow_ids: [WORKFLOW],
      rate_limit: 7,
      created_at: expect.stringMatching(TIME),
      last_used_at: expect.stringMatching(TIME),
      expires_at: null,
      revoked_at: null,
      status: 'active',
    })
  })

  it('a key ends at its expiry, and a rotated one at the end of the overlap (D3, D59)', async () => {
    const create = ['key', 'create', '--email', 'eve@example.com']
    const first = await runCommand(...create, '--expires', '2100-01-31T12:00:00+01:00')
    const old = await runCommand(...create)
    const before = Date.now()
    const rotated = await runCommand('key', 'rotate', old.key_id, '--overlap', '24h')
    expect(rotated).toEqual({
      key_id: expect.stringMatching(UUID),
      key: expect.stringMatching(KEY),
      replaces: old.key_id,
      old_expires_at: expect.stringMatching(TIME),
    })
    const overlapMs = Date.parse(rotated.old_expires_at) - before
    expect(overlapMs).toBeGreaterThanOrEqual(86_400_000)
    expect(overlapMs).toBeLessThan(86_400_000 + 30_000)
    const statuses = () => Promise.all([first, old, rotated].map(({ key }) => statusOf(key)))
    expect(await statuses()).toEqual([200, 200, 200])
    expect(await listedKeys('status', 'expires_at')).toEqual([
      { status: 'active', expires_at: '2100-01-31T11:00:00.000Z' },
      { status: 'active', expires_at: rotated.old_expires_at },
      { status: 'active', expires_at: null },
    ])

    await expireKey(app.store.system, first.key_id, new Date())
    await expireKey(app.store.system, old.key_id, new Date())
    expect(await statuses()).toEqual([401, 401, 200])
    expect(await runFailing(['key', 'rotate', old.key_id])).toMatchObject({ exit: 4, error: 'Conflict' })
  })

  it('key rotate without an overlap and key revoke end a key at once', async () => {
    const [, , { key_id }] = await listedKeys('key_id')
    const rotated = await runCommand('key', 'rotate', key_id)
    expect(await statusOf(rotated.key)).toBe(200)
    expect(await runCommand('key', 'revoke', rotated.key_id)).toEqual({
      key_id: rotated.key_id,
      revoked: true,
    })
    expect(await statusOf(rotated.key)).toBe(401)
    expect(await listedKeys('status')).toEqual([
      { status: 'expired' },
      { status: 'expired' },
      { status: 'revoked' },
      { status: 'revoked' },
    ])
  })

  async function listedKeys(...fields: string[]): Promise<Json> {
    const keys: Json[] = await runCommand('key', 'list', '--email', 'eve@example.com')
    return keys.map((key) => Object.fromEntries(fields.map((field) => [field, key[field]])))
  }

  it('credits are exact to three decimals (D22)', async () => {
    const grant = (amount: string) => runCommand('credits', 'grant', '--amount', amount, '--reason', 'gift')
    expect(await grant('0.1')).toEqual({ org_id: orgId, balance: 10.1 })
    expect(await grant('0.205')).toEqual({ org_id: orgId, balance: 10.305 })
    expect(await runCommand('credits', 'balance')).toEqual({ org_id: orgId, balance: 10.305 })
    const audit = app.store.system.selectFrom('audit_entries').select(['org_id', 'actor', 'details'])
    expect(await audit.where('action', '=', 'credits.granted').orderBy('at').execute()).toEqual([
      { org_id: orgId, actor: 'operator', details: { amount: 0.1, reason: 'gift' } },
      { org_id: orgId, actor: 'operator', details: { amount: 0.205, reason: 'gift' } },
    ])
  })

  it('without --json the answer is for people, without colours in a pipe, and says that keys are shown once', async () => {
    const created = await loam(['key', 'create', '--email', 'ann@example.com'])
    expect(created.stdout).toMatch(/^ {2}key {5}loam_\w{40} {2}\(shown once: keep it now\)$/m)
    const listed = await loam(['key', 'list'])
    expect(listed.stdout).toMatch(/^KEY ID +EMAIL +ENDS IN +STATUS/)
    // oxlint-disable-next-line no-control-regex
    expect(listed.stdout).not.toMatch(/loam_|\u001b/)
  })

  it('errors are lines for people', async () => {
    const { exit, stdout, stderr } = await loam([
      'key',
      'create',
      '--email',
      'ann@example.com',
      '--scopes',
      'no:such',
    ])
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: '' })
    expect(stderr).toMatch(
      /^loam: scopes: unknown scope no:such; the scopes of this role are .*workflows:read.*\n$/,
    )
  })

  it('a misspelled scope gets a hint', async () => {
    const { stderr } = await loam([
      'key',
      'create',
      '--email',
      'ann@example.com',
      '--scopes',
      'workflow:read',
    ])
    expect(stderr).toMatch(
      /^loam: scopes: unknown scope workflow:read; did you mean workflows:read\?; the scopes of this role are .*workflows:run.*\n$/,
    )
  })

  it('a command on a folder without data fails and creates nothing', async () => {
    const empty = join(folder, 'nothing')
    const { exit, stderr } = await runLoam(['org', 'list'], { LOAM_DATA_DIR: empty })
    expect([exit, existsSync(empty)]).toEqual([5, false])
    expect(stderr).toContain(`There is no data in ${empty} yet: start the server once with npm start`)
  })
})

describe('several organisations', () => {
  it('the organisation is the one named, or the only one of that member; otherwise it must be named', async () => {
    const one = await app.makeOrg('One')
    const two = await app.makeOrg('Two')
    for (const { orgId } of [one, two]) {
      await addMember(app.store.system, OPERATOR, orgId, {
        invite: { email: 'both@example.com', role: 'user' },
        memberLimit: null,
      })
    }
    const [named, theirs, unnamed, both, unknown] = await Promise.all([
      runCommand('credits', 'balance', '--org', two.orgId),
      runCommand('key', 'list', '--email', one.adminEmail),
      runFailing(['credits', 'balance']),
      runFailing(['key', 'create', '--email', 'both@example.com']),
      runFailing(['member', 'list', '--org', NOBODY]),
    ])
    expect(named).toEqual({ org_id: two.orgId, balance: 1000 })
    expect(theirs).toHaveLength(1)
    expect(unnamed).toMatchObject({ exit: 2, errors: [{ field: 'org' }] })
    for (const text of ['--org', `${one.orgId}  One`, `${two.orgId}  Two`, 'Acme']) {
      expect(unnamed.errors[0].message).toContain(text)
    }
    expect(both.errors[0].message).toContain(two.orgId)
    expect(both.errors[0].message).not.toContain('Acme')
    expect(unknown).toMatchObject({ exit: 3, error: 'Not Found' })
  })
})

describe('exit codes', () => {
  const misuses: { args: string[]; failure: Json }[] = [
    { args: ['key'], failure: { error: 'Usage Error' } },
    {
      args: ['key', 'lst'],
      failure: { error: 'Usage Error', message: "unknown command 'lst'\n(Did you mean list?)" },
    },
    {
      args: ['key', 'list', '--emial', 'x'],
      failure: { error: 'Usage Error', message: "unknown option '--emial'\n(Did you mean --email?)" },
    },
    { args: ['org', 'create', '--name', 'x'], failure: { error: 'Usage Error' } },
    {
      args: 'key create --email a@b.cd --org x --scopes , --rate-limit 0 --allowed-workflows x --expires x'.split(
        ' ',
      ),
      failure: {
        error: 'Validation Error',
        message: '5 validation errors',
        errors: ['org', 'scopes', 'allowed-workflows', 'rate-limit', 'expires'].map((field) =>
          expect.objectContaining({ field }),
        ),
      },
    },
    { args: ['key', 'rotate', NOBODY, '--overlap', '1y'], failure: { errors: [{ field: 'overlap' }] } },
    { args: ['credits', 'grant', '--amount', '0.0001'], failure: { errors: [{ field: 'amount' }] } },
    {
      args: ['serve', '--port', 'x', '--roles', 'y'],
      failure: { errors: [{ field: 'PORT' }, { field: 'LOAM_ROLES' }] },
    },
  ]
  it.each(misuses)('2: loam $args', async ({ args, failure }) => {
    expect(await runFailing(args)).toMatchObject({ exit: 2, ...failure })
  })

  it('3: a key that does not exist', async () => {
    expect(await runFailing(['key', 'revoke', NOBODY])).toEqual({
      exit: 3,
      error: 'Not Found',
      message: 'Key not found',
    })
  })

  it('5: a database that cannot be reached', async () => {
    const failure = await runFailing(['org', 'list'], { DATABASE_URL: 'postgres://x@127.0.0.1:1/x' })
    expect(failure).toMatchObject({ exit: 5, error: 'Service Unavailable' })
    expect(failure.message).toContain('ECONNREFUSED')
  })

  it('1: a database of a newer Loam, which doctor reports as well', async () => {
    const { store, databaseUrl } = await makeStore()
    const version = newestSchemaVersion() + 1
    await store.query({
      text: 'insert into schema_migrations (version, name) values ($1, $2)',
      values: [version, 'new'],
    })
    expect(await runFailing(['org', 'list'], { DATABASE_URL: databaseUrl })).toMatchObject({ exit: 1 })
    const { exit, stdout } = await loam(['doctor', '--json'], { DATABASE_URL: databaseUrl, PORT: '1' })
    expect(exit).toBe(1)
    expect(JSON.parse(stdout)).toContainEqual(expect.objectContaining({ check: 'schema', status: 'fail' }))
  })
})
