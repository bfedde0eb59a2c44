import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { readConfig } from '#server/lib/config/config.ts'
import { startTransactionPooler } from '#test/doubles/transaction-pooler.ts'
import { type Json, makeDatabase } from '#test/plumbing/harness.ts'
import { findAddress } from '#test/plumbing/server-process.ts'
import { checkVisitors } from './doctor/visitors.ts'
import { startLoam } from './testing/loam-process.ts'
import { runLoam } from './testing/loam.ts'

const folder = mkdtempSync(join(tmpdir(), 'loam-doctor-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ENV = {
  DATABASE_URL: await makeDatabase(),
  LOAM_SECRET: 'a secret for tests only',
  LOAM_DATA_DIR: folder,
  LOAM_LOG_LEVEL: 'error',
}

it('serve runs until SIGTERM, and doctor finds it', async () => {
  const server = startLoam(['serve', '--port', '0', '--roles', 'api'], ENV)
  const ended = new Promise((resolve) => void server.on('exit', resolve))
  let output = ''
  server.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await expect.poll(() => findAddress(output), { timeout: 150_000 }).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  const PORT = new URL(findAddress(output) ?? '').port

  const { exit, stdout } = await runLoam(['doctor', '--json'], {
    ...ENV,
    LOAM_SMPT_URL: 'smtp://x',
    LOAM_PORT: '8080',
    LOAM_PROVIDER_KEY_HUNTER: 'k',
  })
  const checks: Json[] = JSON.parse(stdout)
  expect(exit).toBe(0)
  expect(checks.filter(({ status }) => status !== 'ok')).toEqual([
    {
      check: 'settings',
      status: 'warn',
      detail: 'LOAM_SMPT_URL is no setting and has no effect; did you mean LOAM_SMTP_URL?',
      fix: expect.any(String),
    },
    {
      check: 'settings',
      status: 'warn',
      detail: 'LOAM_PORT is no setting and has no effect; did you mean PORT?',
      fix: expect.any(String),
    },
  ])
  expect(checks.map(({ check }) => check)).toEqual([
    'settings',
    'settings',
    'settings',
    'data folder',
    'secret',
    'disk',
    'database',
    'database role',
    'database sessions',
    'schema',
    'mail',
    'agent',
    'browser',
    'visitors',
    'server',
  ])
  const { detail } = checks.at(-1) ?? {}
  expect(detail).toBe(`ready at http://127.0.0.1:${PORT}`)
  server.kill('SIGTERM')
  expect(await ended).toBe(0)
})

it('doctor warns of a role that bypasses row-level security, and fails without the mail server', async () => {
  const superuser = new URL(ENV.DATABASE_URL)
  superuser.username = 'postgres'
  const env = { ...ENV, DATABASE_URL: superuser.href, LOAM_SMTP_URL: 'smtp://127.0.0.1:1', PORT: '1' }
  const { exit, stdout } = await runLoam(['doctor', '--json'], env)
  const checks: Json[] = JSON.parse(stdout)
  expect(exit).toBe(1)
  expect(
    checks.filter(({ status }) => status !== 'ok').map(({ check, status }) => `${status} ${check}`),
  ).toEqual(['warn database role', 'fail mail', 'warn server'])
})

it.each<[string, Record<string, string>, object]>([
  ['no model', {}, { status: 'ok', detail: expect.stringContaining('LOAM_MODEL_BASE_URL') }],
  [
    'no search engine',
    { LOAM_MODEL_BASE_URL: 'http://127.0.0.1:1/v1', LOAM_MODELS: 'small' },
    { status: 'warn', detail: expect.stringContaining('uses small, but has no search engine') },
  ],
  [
    'both',
    { LOAM_ANTHROPIC_API_KEY: 'k', LOAM_SEARCH_URL: 'http://127.0.0.1:1' },
    { status: 'ok', detail: expect.stringMatching(/uses anthropic\/.*SearXNG/) },
  ],
])('doctor says whether the web agent can work: %s', async (_name, settings, expected) => {
  const { stdout } = await runLoam(['doctor', '--json'], { ...ENV, PORT: '1', ...settings })
  const checks: Json[] = JSON.parse(stdout)
  expect(checks.find(({ check }) => check === 'agent')).toMatchObject(expected)
})

it('doctor names each wrong setting and exits 1', async () => {
  const { exit, stdout } = await runLoam(['doctor'], { ...ENV, PORT: 'x', LOAM_SMTP_URL: 'y' })
  expect(exit).toBe(1)
  expect(stdout).toMatch(/^fail {2}settings {2}PORT: must be a whole number$/m)
  expect(stdout).toMatch(/^fail {2}settings {2}LOAM_SMTP_URL: must be a URL/m)
})

it.each([
  ['none', { LOAM_BROWSER: 'none' }, { status: 'ok', detail: expect.stringContaining('none') }],
  [
    'one that is there',
    { LOAM_BROWSER: process.execPath },
    { detail: expect.stringContaining(process.execPath) },
  ],
  ['one that is not', { LOAM_BROWSER: '/no/such/browser' }, { status: 'fail', fix: expect.any(String) }],
])('doctor says whether there is a browser: %s', async (_name, settings, expected) => {
  const { stdout } = await runLoam(['doctor', '--json'], { ...ENV, ...settings, PORT: '1' })
  const checks: Json[] = JSON.parse(stdout)
  expect(checks.find(({ check }) => check === 'browser')).toMatchObject(expected)
})

it('F68: doctor warns of a Chromium that would run as root', async () => {
  const closed = mkdtempSync(join(tmpdir(), 'loam-closed-'))
  onTestFinished(() => rmSync(closed, { recursive: true }))
  const path = join(closed, 'chromium')
  writeFileSync(path, '', { mode: 0o755 })
  const { stdout } = await runLoam(['doctor', '--json'], { ...ENV, LOAM_BROWSER: path, PORT: '1' })
  const checks: Json[] = JSON.parse(stdout)
  const browserCheck = checks.find(({ check }) => check === 'browser')
  if (process.getuid?.() !== 0) return expect(browserCheck).toMatchObject({ check: 'browser' })
  const detail = expect.stringContaining('it runs as root without its sandbox: the user nobody cannot reach')
  expect(browserCheck).toMatchObject({ status: 'warn', detail })
})

it.each<[Record<string, string>, object]>([
  [{}, { status: 'ok', detail: expect.stringContaining('LOAM_PUBLIC_URL is not set') }],
  [
    { LOAM_PUBLIC_URL: 'http://loam.example' },
    { status: 'warn', detail: expect.stringContaining('is not https') },
  ],
  [
    { LOAM_PUBLIC_URL: 'https://loam.example' },
    { status: 'warn', detail: expect.stringContaining('the address of the proxy') },
  ],
  [
    { LOAM_PUBLIC_URL: 'https://loam.example', LOAM_TRUST_PROXY: 'true', LOAM_PROVIDER_KEY_IPINFO: 'k' },
    { status: 'ok', detail: expect.stringContaining('reverse DNS, then IPinfo') },
  ],
])('doctor says whether scripts for visitors can work: %j', (settings, expected) => {
  expect(checkVisitors(readConfig(settings))).toMatchObject({ check: 'visitors', ...expected })
})

it('F65: behind a pooler in transaction mode the server refuses to start, doctor fails, and both print the reason', async () => {
  const env = { ...ENV, DATABASE_URL: await startTransactionPooler(ENV.DATABASE_URL), PORT: '1' }
  const { exit, stdout } = await runLoam(['doctor', '--json'], env)
  const checks: Json[] = JSON.parse(stdout)
  expect(exit).toBe(1)
  expect(checks.find(({ check }) => check === 'database sessions')).toMatchObject({
    status: 'fail',
    detail: expect.stringContaining('do not survive a transaction'),
    fix: expect.stringContaining('pool_mode = session'),
  })
  const server = startLoam(['serve', '--port', '0', '--roles', 'api'], env)
  let output = ''
  server.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const code = await new Promise((resolve) => void server.on('exit', resolve))
  expect(code).not.toBe(0)
  expect(output).toContain('do not survive a transaction, as behind a pooler in transaction mode')
})
