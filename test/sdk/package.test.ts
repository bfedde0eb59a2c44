import { execFile } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { beforeAll, describe, expect, it } from 'vitest'
import { atEnd } from '#test/plumbing/at-end.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { WebhookVerificationError, webhooks } from '../../sdk/src/index.ts'
import { parseJson, writeJson } from '../../sdk/src/json.ts'

const run = promisify(execFile)
const MAX_BYTES = 15 * 1024

let folder = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loam-sdk-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  // The package is built from a copy, so that a build of the checkout is not disturbed.
  const copy = join(folder, 'sdk')
  cpSync('sdk', copy, { recursive: true, filter: (path) => !path.includes('dist') })
  await run('node', [resolve('node_modules/typescript/bin/tsc'), '-p', copy])
  const packed = await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: copy })
  const place = join(folder, 'user', 'node_modules', '@loam', 'sdk')
  mkdirSync(place, { recursive: true })
  const tarball = join(folder, packed.stdout.trim().split('\n').at(-1) ?? '')
  await run('tar', ['xzf', tarball, '--strip-components=1', '-C', place])
  writeFileSync(join(folder, 'user', 'package.json'), '{"type":"module"}')
})

describe('what npm pack makes', () => {
  it('has the program, its types and README, and no dependency', () => {
    const place = join(folder, 'user', 'node_modules', '@loam', 'sdk')
    const about = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'))
    expect([about.name, about.dependencies, about.type]).toEqual(['@loam/sdk', undefined, 'module'])
    expect(readFileSync(join(place, 'dist/wire.d.ts'), 'utf8')).toContain('export type Run = ')
    expect(readFileSync(join(place, 'README.md'), 'utf8')).toContain('new Loam()')
  })

  it('runs alone the first program of its README', async () => {
    const app = await makeApp()
    await startTestWorker(app)
    const org = await app.makeOrg()
    const LOAM_URL = await app.api.listen({ port: 0, host: '127.0.0.1' })
    const [, program = ''] = /```js\n([\s\S]*?)```/.exec(readFileSync('sdk/README.md', 'utf8')) ?? []
    writeFileSync(join(folder, 'user', 'first.js'), program)
    const env = { ...process.env, LOAM_URL, LOAM_API_KEY: org.key }
    const { stdout } = await run('node', ['first.js'], { cwd: join(folder, 'user'), env })
    expect(stdout).toContain('2 of 2 rows')
    expect(stdout).toContain('finished 0')
    expect(stdout).toContain("domain: 'example.org'")
  })

  it('is at most 15 KB minified and compressed, without node: imports', async () => {
    const made = await build({
      configFile: false,
      logLevel: 'silent',
      root: folder,
      build: {
        write: false,
        minify: true,
        target: 'es2022',
        lib: { entry: join(folder, 'user/node_modules/@loam/sdk/dist/index.js'), formats: ['es'] },
      },
    })
    const outputs = (Array.isArray(made) ? made : [made]).flatMap((one) =>
      'output' in one ? one.output : [],
    )
    const code = outputs.map((chunk) => (chunk.type === 'chunk' ? chunk.code : '')).join('')
    expect(code).not.toContain('node:')
    expect(code).toContain('/api/v1')
    expect(gzipSync(code).length).toBeLessThanOrEqual(MAX_BYTES)
  })

  it('its types work for a strict TypeScript program', async () => {
    const user = join(folder, 'user')
    writeFileSync(
      join(user, 'typed.ts'),
      `import Loam, { type Run, ValidationError } from '@loam/sdk'
const loam = new Loam({ apiKey: 'k' })
export const run: Run | null = await loam.runs.runAndWait('w', { first_10: true }, { max_credits: 1 })
for await (const row of loam.rows.list('w', { page_size: 100 })) console.log(row.row_id satisfies string)
// @ts-expect-error a role that does not exist
await loam.members.invite({ email: 'a@b.c', role: 'owner' }).catch((cause) => cause instanceof ValidationError)
`,
    )
    const flags = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--types', '']
    const lib = ['--lib', 'es2022,dom,dom.iterable,dom.asynciterable']
    const tsc = resolve('node_modules/typescript/bin/tsc')
    await expect(run('node', [tsc, ...flags, ...lib, 'typed.ts'], { cwd: user })).resolves.toBeDefined()
  })
})

describe('webhooks', () => {
  const key = randomBytes(24)
  const secret = `whsec_${key.toString('base64')}`
  const body = JSON.stringify({
    id: 'm1',
    type: 'run.finished',
    created_at: 'now',
    org_id: 'o',
    data: { n: 1 },
  })
  const now = () => Math.floor(Date.now() / 1000)
  function sign(timestamp: number, signedBody = body): Record<string, string> {
    const signature = createHmac('sha256', key).update(`m1.${timestamp}.${signedBody}`).digest('base64')
    return {
      'Webhook-Id': 'm1',
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${randomBytes(32).toString('base64')} v1a,x v1,${signature}`,
    }
  }

  it('verify gives the payload of a signed message, unwrap an event', async () => {
    expect(await webhooks.verify(body, sign(now()), secret)).toMatchObject({ type: 'run.finished' })
    const bytes = new TextEncoder().encode(body)
    const event = await webhooks.unwrap(bytes, new Headers(sign(now())), secret)
    expect([event.type, event.data]).toEqual(['run.finished', { n: 1 }])
    expect(await webhooks.verify(body, sign(now() - 500), secret, { tolerance: 600 })).toBeDefined()
  })

  it.each([
    ['another body', () => webhooks.verify(`${body} `, sign(now()), secret)],
    ['an old one', () => webhooks.verify(body, sign(now() - 301), secret)],
    ['one of the future', () => webhooks.verify(body, sign(now() + 310), secret)],
    ['another secret', () => webhooks.verify(body, sign(now()), 'whsec_AAAA')],
    ['no secret', () => webhooks.verify(body, sign(now()), 'whsec_')],
    ['no headers', () => webhooks.verify(body, {}, secret)],
    ['no event', () => webhooks.unwrap('1', sign(now(), '1'), secret)],
    ['no JSON', () => webhooks.verify('x', sign(now(), 'x'), secret)],
  ])('%s is refused', async (_, call) => {
    await expect(call()).rejects.toBeInstanceOf(WebhookVerificationError)
  })
})

describe('numbers', () => {
  it.each([
    ['9007199254740993', '9007199254740993'],
    ['-12345678901234567890', '-12345678901234567890'],
    ['0.1000000000000000055', '0.1000000000000000055'],
    ['1e400', '1e400'],
    ['1.10', 1.1],
    ['0.1', 0.1],
    ['0', 0],
    ['1e22', 1e22],
    ['"9007199254740993"', '9007199254740993'],
    ['"\\"9007199254740993"', '"9007199254740993'],
  ])('lossless reads %s as %j', (text, value) => {
    expect(parseJson(`{"a":[${text}]}`, true)).toEqual({ a: [value] })
  })

  it('a bigint is written as a number with all digits', () => {
    expect(writeJson({ a: [12345678901234567890n, '1', null] })).toBe('{"a":[12345678901234567890,"1",null]}')
  })
})
