import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { runLoam } from '../testing/loam.ts'

const app = await makeApp()
const folder = mkdtempSync(join(tmpdir(), 'loam-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const ENV = { DATABASE_URL: app.databaseUrl, LOAM_SECRET: 'a secret for tests only', LOAM_DATA_DIR: folder }

const [org, other] = [await app.makeOrg(), await app.makeOrg()]
const bob = await org.keyFor('bob@example.com', 'member')
await other.keyFor('bob@example.com', 'member')
const id: string = (await org.call('POST', '/workflows/', { name: 'Leads' })).body.data.workflow_id
const NOBODY = '00000000-0000-7000-8000-000000000000'

async function workflow(...args: string[]): Promise<{ exit: number | null; answer: Json }> {
  const { exit, stdout, stderr } = await runLoam(['workflow', ...args, '--json'], ENV)
  return { exit, answer: JSON.parse(exit === 0 ? stdout : stderr) }
}
const statusForBob = async () => (await app.call(bob, 'GET', `/workflows/${id}`)).status

it('share gives a member access and --revoke removes it; the workflow determines its organisation', async () => {
  const share = ['share', '--workflow', id.toUpperCase(), '--email', 'Bob@Example.com']
  const shared = { workflow_id: id, email: 'bob@example.com', shared: true }
  expect(await statusForBob()).toBe(403)
  expect(await workflow(...share)).toEqual({ exit: 0, answer: shared })
  expect(await workflow(...share, '--org', org.orgId)).toEqual({ exit: 0, answer: shared })
  expect(await statusForBob()).toBe(200)
  expect(await workflow(...share, '--revoke')).toEqual({ exit: 0, answer: { ...shared, shared: false } })
  expect(await statusForBob()).toBe(403)
})

it.each([
  ['an unknown workflow', ['--workflow', NOBODY, '--email', 'bob@example.com'], 3, 'Workflow'],
  [
    'an unknown address',
    ['--workflow', id, '--email', 'nobody@example.com'],
    3,
    'Member nobody@example.com not found',
  ],
  ['a member of another organisation', ['--workflow', id, '--email', other.adminEmail], 3, 'Member'],
  [
    'another organisation',
    ['--workflow', id, '--email', 'bob@example.com', '--org', other.orgId],
    3,
    'Workflow',
  ],
  ['the owner', ['--workflow', id, '--email', org.adminEmail], 2, 'validation'],
  ['no id', ['--workflow', 'leads', '--email', 'bob@example.com'], 2, 'validation'],
])('share fails with %s', async (_what, flags, exit, message) => {
  const failed = await workflow('share', ...flags)
  expect([failed.exit, failed.answer.message]).toEqual([exit, expect.stringContaining(message)])
})

it('list shows the workflows of an organisation with their owners', async () => {
  expect(await workflow('list', '--org', org.orgId)).toEqual({
    exit: 0,
    answer: [{ workflow_id: id, name: 'Leads', updated_at: expect.any(String), owner: org.adminEmail }],
  })
  expect(await workflow('list', '--org', other.orgId)).toEqual({ exit: 0, answer: [] })
  expect((await workflow('list')).exit).toBe(2)
  const { stdout } = await runLoam(['workflow', 'list', '--org', org.orgId], ENV)
  expect(stdout).toContain(id)
})
