import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { serveDouble } from '#server/catalog/testing/provider-double.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { startLoam } from '../testing/loam-process.ts'
import { runLoam } from '../testing/loam.ts'

const app = await makeApp()
const folder = mkdtempSync(join(tmpdir(), 'loam-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const ENV = { DATABASE_URL: app.databaseUrl, LOAM_SECRET: 'a secret for tests only', LOAM_DATA_DIR: folder }
const org = await app.makeOrg()
await org.keyFor('bob@example.com', 'member')

async function loam(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ exit: number | null; answer: Json }> {
  const { exit, stdout, stderr } = await runLoam([...args, '--json'], { ...ENV, ...env })
  return { exit, answer: JSON.parse(stdout === '' ? stderr : stdout) }
}
const SECRET = 'k-secret-0123456789'
const UUID = /^[0-9a-f-]{36}$/

describe('loam connection', () => {
  it('D57: add prints connection_id, provider and name; list and remove never print secrets (D68)', async () => {
    const added = await loam([
      'connection',
      'add',
      '--provider',
      'Hunter',
      '--name',
      'Main',
      '--secret',
      SECRET,
    ])
    const connection_id: string = added.answer.connection_id
    expect(added).toEqual({ exit: 0, answer: { connection_id, provider: 'hunter', name: 'Main' } })
    expect(connection_id).toMatch(UUID)
    const fields = ['client_id=id', `client_secret=${SECRET}`].flatMap((pair) => ['--field', pair])
    const more = await loam([
      'connection',
      'add',
      '--provider',
      'snov',
      ...fields,
      '--email',
      'bob@example.com',
      '--private',
    ])
    expect(more.answer).toMatchObject({ provider: 'snov', name: 'Snov' })

    const listed = await loam(['connection', 'list'])
    expect(listed.answer).toMatchObject([
      { connection_id, provider: 'hunter', name: 'Main', shared: true, owner: null },
      { provider: 'snov', name: 'Snov', shared: false, owner: 'bob@example.com' },
    ])
    expect(JSON.stringify(listed.answer)).not.toContain(SECRET)
    expect(await loam(['connection', 'remove', connection_id])).toEqual({
      exit: 0,
      answer: { connection_id, removed: true },
    })
    expect((await loam(['connection', 'remove', connection_id])).exit).toBe(3)
  })

  it('test calls the provider', async () => {
    const double = await serveDouble(({ path, headers }) => {
      if (path !== '/v2/account') return { status: 404 }
      return headers['x-api-key'] === SECRET
        ? { json: { data: {} } }
        : { status: 401, json: { seen: headers } }
    })
    const env = { LOAM_PROVIDER_URL_HUNTER: double.origin, LOAM_EGRESS_ALLOW: '127.0.0.1' }
    const idOf = async (name: string, secret: string): Promise<string> =>
      (await loam(['connection', 'add', '--provider', 'hunter', '--name', name, '--secret', secret])).answer
        .connection_id
    const [good, bad] = [await idOf('Good', SECRET), await idOf('Bad', 'wrong-0123456789')]
    expect(await loam(['connection', 'test', good], env)).toMatchObject({ exit: 0, answer: { ok: true } })
    const failed = await loam(['connection', 'test', bad], env)
    expect(failed).toMatchObject({ exit: 1, answer: { ok: false, message: expect.stringContaining('401') } })
    expect(JSON.stringify(failed.answer)).not.toContain('wrong-0123456789')
  })

  it('a secret is read from standard input for -', async () => {
    const child = startLoam(['connection', 'add', '--provider', 'serper', '--secret', '-', '--json'], ENV)
    child.stdin?.end(`${SECRET}\n`)
    expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
  })

  it.each<[string, string[], number, string]>([
    ['an unknown provider', ['--provider', 'nobody', '--secret', 'k'], 2, 'hunter'],
    ['no secret', ['--provider', 'hunter'], 2, '--secret'],
    ['a field without a value', ['--provider', 'hunter', '--field', 'secret'], 2, 'name=value'],
    ['an unknown owner', ['--provider', 'hunter', '--secret', 'k', '--email', 'x@example.com'], 3, 'Member'],
    ['a name that is taken', ['--provider', 'hunter', '--name', 'good', '--secret', 'k'], 4, 'already'],
  ])('add fails with %s', async (_what, flags, exit, words) => {
    const failed = await loam(['connection', 'add', ...flags])
    expect([failed.exit, JSON.stringify(failed.answer)]).toEqual([exit, expect.stringContaining(words)])
  })
})

describe('loam env', () => {
  it('set, list, unset, for the organisation and for one workflow; values are never printed', async () => {
    const { body } = await org.call('POST', '/workflows', { name: 'W' })
    const workflow_id: string = body.data.workflow_id
    const value = 'v-secret-0123456789'
    expect(await loam(['env', 'set', 'TOKEN', value])).toEqual({
      exit: 0,
      answer: { key: 'TOKEN', workflow_id: null },
    })
    await loam(['env', 'set', 'TOKEN', value, '--workflow', workflow_id])
    const { answer } = await loam(['env', 'list'])
    expect(answer).toMatchObject([
      { key: 'TOKEN', workflow_id: null },
      { key: 'TOKEN', workflow_id },
    ])
    expect(JSON.stringify(answer)).not.toContain(value)
    const own = await loam(['env', 'list', '--workflow', workflow_id])
    expect(own.answer).toEqual(answer.filter((each: Json) => each.workflow_id === workflow_id))
    expect(own.answer).toHaveLength(1)
    expect((await loam(['env', 'unset', 'TOKEN'])).answer).toEqual({
      key: 'TOKEN',
      workflow_id: null,
      unset: true,
    })
    expect((await loam(['env', 'unset', 'TOKEN'])).exit).toBe(3)
    expect((await loam(['env', 'list'])).answer).toHaveLength(1)
    expect((await loam(['env', 'set', '1X', 'v'])).exit).toBe(2)
  })
})
