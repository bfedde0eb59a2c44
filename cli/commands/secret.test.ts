import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createApp } from '#server/api/app.ts'
import { connectionBinding } from '#server/lib/security/bindings.ts'
import { createSealer } from '#server/lib/security/secrets.ts'
import { SEALED } from '#server/organisation/secret-rotation.ts'
import { createRunEnvironment } from '#server/runs/run-environment.ts'
import { makeVisitorApp } from '#server/sources/pulls/testing/visitor-app.ts'
import { makeRowSheet } from '#test/builders/rows.ts'
import type { Json, TestOrg } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { runLoam } from '../testing/loam.ts'

const OLD = 'a secret for tests only'
const NEW = 'another secret for tests'
const visitors = await makeVisitorApp()
const { app } = visitors
const folder = mkdtempSync(join(tmpdir(), 'loam-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function loam(secret: string, ...args: string[]): Promise<{ exit: number | null; answer: Json }> {
  const env = { DATABASE_URL: app.databaseUrl, LOAM_SECRET: secret, LOAM_DATA_DIR: folder }
  const { exit, stdout, stderr } = await runLoam([...args, '--json'], env)
  return { exit, answer: JSON.parse(stdout === '' ? stderr : stdout) }
}
const countsOf = ({ values }: Json): Json =>
  Object.fromEntries(values.map((of: Json) => [`${of.table}.${of.column}`, of.values]))

/** Seals one value of each kind, by a server that knows only the old secret. */
async function sealEverything() {
  const org = await app.makeOrg()
  const base = await makeRowSheet(org, ['n'])
  const sheetId = base.slice(-36)
  await org.call('POST', '/org/members', { email: 'new@example.com', role: 'member' })
  await loam(OLD, 'webhook', 'enable', '--sheet', sheetId)
  await loam(OLD, 'env', 'set', 'REGION', 'eu-central', '--org', org.orgId)
  const added = await loam(
    OLD,
    'connection',
    'add',
    '--provider',
    'webhook',
    '--secret',
    'hush',
    '--org',
    org.orgId,
  )
  const { connection_id } = added.answer
  const { sealer } = app.services
  await app.store.system
    .updateTable('connections')
    .set({
      token_sealed: sealer.seal('kept', connectionBinding({ org_id: org.orgId, connection_id }, 'token')),
      token_expires_at: new Date(Date.now() + 3_600_000),
    })
    .where('connection_id', '=', connection_id)
    .execute()
  const budget = { scope: 'organisation', period: 'total', limit: 9, webhook_url: 'https://a.example/' }
  const headers = { 'idempotency-key': 'once' }
  const { status } = await org.call('POST', '/credits/budgets', { ...budget, subject: null }, headers)
  expect(status).toBe(201)
  const { source_instance_id: sourceId, pixel_id } = await visitors.create(org)
  await visitors.visit(pixel_id)
  return { org, base, sheetId, sourceId, pixel_id }
}

it('every column of sealed values can be sealed again', async () => {
  const columns = await app.store.query<{ name: string }>({
    text: `select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and column_name like '%sealed'`,
  })
  const known = SEALED.map(({ table, column }) => `${table}.${column}`)
  expect(known.toSorted()).toEqual(columns.map(({ name }) => name).toSorted())
})

describe('loam secret rotate', () => {
  let made: Awaited<ReturnType<typeof sealEverything>>
  beforeAll(async () => {
    made = await sealEverything()
  })
  const ONE_OF_EACH = {
    'invitations.token_sealed': 1,
    'webhooks.token_sealed': 1,
    'env_variables.value_sealed': 1,
    'connections.fields_sealed': 1,
    'connections.token_sealed': 1,
    'source_tokens.token_sealed': 1,
    'source_inbox.sealed': 1,
    'budgets.secret_sealed': 1,
    'idempotency_keys.body_sealed': 1,
  }

  it('status counts stale values by key, and values that no known secret opens', async () => {
    const current = await loam(OLD, 'secret', 'status')
    expect(current).toMatchObject({ exit: 0, answer: { stale: 0, unreadable: 0 } })
    expect(countsOf(current.answer)).toEqual(ONE_OF_EACH)
    const rotating = await loam(`${NEW},${OLD}`, 'secret', 'status')
    expect(rotating).toMatchObject({ exit: 0, answer: { stale: 9, unreadable: 0 } })
    const old = current.answer.current_key
    expect(rotating.answer.current_key).not.toBe(old)
    expect(rotating.answer.values[0]).toMatchObject({
      values: 1,
      stale: 1,
      unreadable: 0,
      keys: { [old]: 1 },
    })
    expect((await loam(NEW, 'secret', 'status')).answer).toMatchObject({ stale: 9, unreadable: 9 })
  })

  it('does not seal values that it cannot open, and reports them', async () => {
    const failed = await loam(NEW, 'secret', 'rotate')
    expect(failed).toMatchObject({ exit: 1, answer: { resealed: 0, stale: 9, unreadable: 9 } })
  })

  it('skips values that are being changed, and continues where it stopped when run again', async () => {
    const client = new pg.Client({ connectionString: app.databaseUrl })
    await client.connect()
    onTestFinished(() => client.end())
    await client.query(`begin; select set_config('loam.org', '*', true); select from webhooks for update`)
    const first = await loam(`${NEW},${OLD}`, 'secret', 'rotate')
    expect(first).toMatchObject({ exit: 1, answer: { resealed: 8, stale: 1, unreadable: 0 } })
    await client.query('commit')
    const second = await loam(`${NEW},${OLD}`, 'secret', 'rotate')
    expect(second).toMatchObject({ exit: 0, answer: { resealed: 1, stale: 0, unreadable: 0 } })
    expect(countsOf(second.answer)).toEqual(ONE_OF_EACH)
  })

  it('leaves every value readable for a server that knows only the new secret', async () => {
    const { org, sheetId, sourceId, pixel_id } = made
    expect(await loam(NEW, 'secret', 'status')).toMatchObject({ answer: { stale: 0, unreadable: 0 } })
    const environment = createRunEnvironment(app.store, createSealer(NEW), new Map())
    const sheet = { org_id: org.orgId, sheet_id: sheetId }
    expect([...(await environment.envOf(sheet))]).toEqual([['REGION', 'eu-central']])
    const key = await environment.keysOf(sheet).own('webhook')
    expect(key?.fields).toEqual({ secret: 'hush' })
    expect(await key?.token(async () => ({ ok: false, refusal: 'made again' }))).toEqual({
      ok: true,
      token: 'kept',
    })
    const invitations = await loam(NEW, 'invitation', 'list', '--org', org.orgId)
    expect(invitations.answer).toMatchObject([{ link: expect.stringMatching(/^http/) }])
    const webhook = await loam(NEW, 'webhook', 'enable', '--sheet', sheetId)
    expect(webhook.answer.webhook_url).toMatch(/\/hooks\/\w{40}$/)
    expect((await loam(NEW, 'source', 'show', sourceId)).answer).toMatchObject({ pixel_id })
    await visitors.work(org, sourceId, { sealer: createSealer(NEW) })
    expect(await visitors.rows(org, sourceId)).toMatchObject([{ company: 'acme.com' }])
  })
})

describe('a value that cannot be opened is a clear error', () => {
  const NAMED = expect.stringContaining('Add the old secret after a comma (LOAM_SECRET=new,old), or ')
  let made: Awaited<ReturnType<typeof sealEverything>>
  let call: (path: string) => Promise<Json>
  beforeAll(async () => {
    made = await sealEverything()
    const api = await createApp({ ...app.services, sealer: createSealer(NEW) })
    afterAll(() => api.close())
    call = async (path) =>
      (
        await api.inject({ url: `/api/v1${path}`, headers: { authorization: `Bearer ${made.org.key}` } })
      ).json()
  })

  it('the overview of a workflow shows its webhook without address, with a warning and advice', async () => {
    expect(await call(`/workflows/${made.sheetId}`)).toMatchObject({
      status: 200,
      data: { sheets: [{ sheet_id: made.sheetId, webhook_url: null }] },
      warnings: [{ field: 'sheets[0].webhook_url', code: 'secret_unreadable', message: NAMED }],
    })
    const { answer, exit } = await loam(NEW, 'webhook', 'enable', '--sheet', made.sheetId)
    expect([exit, answer.error, answer.message]).toEqual([4, 'SECRET_UNREADABLE', NAMED])
    expect((await loam(NEW, 'webhook', 'enable', '--sheet', made.sheetId, '--rotate')).exit).toBe(0)
  })

  it('a source and an invitation show the same', async () => {
    const shown = await call(`/sources/${made.sourceId}`)
    expect(shown).toMatchObject({ status: 200, warnings: [{ code: 'secret_unreadable', message: NAMED }] })
    expect(shown.data.pixel_id).toBeUndefined()
    const { answer } = await loam(NEW, 'invitation', 'list', '--org', made.org.orgId)
    expect(answer).toMatchObject([{ email: 'new@example.com', link: null, problem: NAMED }])
  })

  it('records received for a source are kept, and its last error contains advice', async () => {
    const { org, sourceId } = made
    await visitors.work(org, sourceId, { sealer: createSealer(NEW) })
    expect(await visitors.show(org, sourceId)).toMatchObject({
      status: 'active',
      received: { waiting: 1, unresolved: 0 },
      last_error: { message: expect.stringContaining('not in LOAM_SECRET'), hint: NEW_AND_OLD },
    })
    await visitors.set(sourceId, 'next_pull_at = now()')
    await visitors.work(org, sourceId, { sealer: createSealer(`${NEW},${OLD}`) })
    expect(await visitors.rows(org, sourceId)).toMatchObject([{ company: 'acme.com' }])
  })

  it.each([
    [
      'an environment variable',
      { payload: '{"region": "{{env.REGION}}"}' },
      'the environment variable REGION',
    ],
    ['a connection', { payload: '{}', connection: 'webhook' }, 'the connection "Webhook" to webhook'],
  ])('a cell that needs %s is an error, and nothing is sent (D18)', async (_what, inputs, named) => {
    const { org } = made
    const base = await makeRowSheet(org, ['n'])
    await addAction(org, base, {
      action_id: 'send_webhook',
      inputs: { url: 'http://127.0.0.1:1/', ...inputs },
    })
    await org.call('POST', `${base}/rows`, { rows: [{ n: '1' }], run_after_add: 'all' })
    const services = { ...app.services, sealer: createSealer(NEW) }
    const worker = await startTestWorker({ ...app, services })
    const [row] = await settledRows(org, base)
    await worker.stop()
    expect(row?.cells['send_webhook_1']).toMatchObject({
      status: 'error',
      error: expect.stringMatching(new RegExp(`^${named} cannot be decrypted: .*LOAM_SECRET=new,old`)),
    })
  })
})

const NEW_AND_OLD = expect.stringContaining('LOAM_SECRET=new,old')

async function addAction(org: TestOrg, base: string, body: object): Promise<void> {
  const added = await org.call('POST', `${base}/actions/add`, body)
  expect(added.status).toBe(201)
}
