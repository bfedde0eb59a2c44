import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { makeDatabase } from '#test/plumbing/harness.ts'
import { runLoamProcess, startLoam } from './testing/loam-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'loam-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ENV = {
  DATABASE_URL: await makeDatabase(),
  LOAM_SECRET: 'a secret for tests only',
  LOAM_DATA_DIR: folder,
}

describe('the loam process', () => {
  it('D57: exits 0 with nothing but the answer on stdout', async () => {
    const create = ['org', 'create', '--name', 'Acme', '--admin-email', 'ann@example.com', '--json']
    const made = await runLoamProcess(create, ENV)
    expect(made).toMatchObject({ exit: 0, stderr: '' })
    expect(JSON.parse(made.stdout)).toMatchObject({ admin_email: 'ann@example.com' })
    expect(await runLoamProcess(['org', 'list'], ENV)).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining('Acme'),
      stderr: '',
    })
  })

  it.each([
    { exit: 2, args: ['key', 'lst'], env: {} },
    { exit: 3, args: ['key', 'revoke', '00000000-0000-7000-8000-000000000000'], env: {} },
    { exit: 5, args: ['org', 'list'], env: { DATABASE_URL: 'postgres://x@127.0.0.1:1/x' } },
    { exit: 1, args: ['doctor'], env: { PORT: 'x' } },
  ])('exits $exit: loam $args', async ({ exit, args, env }) => {
    expect((await runLoamProcess(args, { ...ENV, ...env })).exit).toBe(exit)
  })

  it('writes no colours into a pipe, even if CI is set', async () => {
    const { stdout } = await runLoamProcess(['actions', 'show', 'filter'], { ...ENV, CI: 'true' })
    expect(stdout).toContain('filter')
    expect(stdout).not.toContain('\u001b')
  })

  it('exits quietly if nobody reads its output', async () => {
    const child = startLoam(['actions', 'list'], ENV)
    child.stdout?.destroy()
    let errors = ''
    child.stderr?.on('data', (chunk: Buffer) => (errors += chunk.toString()))
    expect(await once(child, 'close')).toEqual([0, null])
    expect(errors).toBe('')
  })
})
