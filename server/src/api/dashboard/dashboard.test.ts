import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib'
import { afterAll, expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'loam-test-dashboard-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
mkdirSync(join(folder, 'dist/assets'), { recursive: true })
const script = 'console.log("dashboard")'
for (const [name, bytes] of [
  ['index.html', '<!doctype html><title>Loam</title>'],
  ['icon.svg', '<svg/>'],
  ['assets/app-1a2b.js', script],
  ['assets/app-1a2b.js.br', brotliCompressSync(script)],
  ['assets/app-1a2b.js.gz', gzipSync(script)],
  ['assets/plain.css', 'a{}'],
] as const) {
  writeFileSync(join(folder, 'dist', name), bytes)
}
writeFileSync(join(folder, 'secret.js'), 'outside')

const app = await makeApp({ services: { dashboardFolder: join(folder, 'dist') } })
const get = (url: string, headers: Record<string, string> = {}) => app.api.inject({ url, headers })

it.each([
  '/',
  '/sign-in',
  '/sign-in/some-token',
  '/workflows',
  '/workflows/1/sheets/2?row=3',
  '/sources',
  '/shortcuts/1',
  '/records',
  '/segments',
  '/usage',
  '/settings/members',
  '/invitations/some-token',
])('%s is the page of the dashboard, which is never cached', async (url) => {
  const answer = await get(url, { accept: 'text/html,*/*;q=0.8' })
  expect([answer.statusCode, answer.body]).toEqual([200, '<!doctype html><title>Loam</title>'])
  expect(answer.headers).toMatchObject({
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
  const policy = String(answer.headers['content-security-policy']).split('; ')
  for (const rule of [
    "default-src 'self'",
    "script-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]) {
    expect(policy).toContain(rule)
  }
})

it.each(['/', '/sign-in/some-token', '/workflows', '/invitations/some-token'])(
  '%s is a page unless the client accepts only JSON: curl and mail scanners get the page too',
  async (url) => {
    const accepts = [
      '*/*',
      'text/*',
      'application/json, text/plain, */*',
      'application/xhtml+xml',
      ' */*;q=0.1',
    ]
    for (const accept of accepts) {
      const answer = await get(url, { accept })
      expect([accept, answer.statusCode, answer.body]).toEqual([
        accept,
        200,
        '<!doctype html><title>Loam</title>',
      ])
    }
  },
)

it('an unknown address is a page with a link home in a browser, and JSON for programs', async () => {
  const navigated = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
  const page = await get('/nothing<script>', navigated)
  expect([page.statusCode, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
  expect(page.body).toContain('<a href="/">')
  expect(page.body).not.toContain('<script>')
  for (const [url, accept] of [
    ['/nothing', '*/*'],
    ['/nothing', 'application/json'],
    ['/hooks/a/b', navigated.accept],
  ] as const) {
    const answer = await get(url, { accept })
    expect([url, answer.statusCode, answer.json().error]).toEqual([url, 404, 'Not Found'])
  }
})

it('programs that accept only JSON get 404, and so does everybody at other addresses', async () => {
  const asked = await get('/workflows', { accept: 'application/json' })
  expect([asked.statusCode, asked.json().error]).toEqual([404, 'Not Found'])
  expect((await get('/nothing', { accept: 'text/html' })).statusCode).toBe(404)
  expect((await get('/docs', { accept: 'text/html' })).body).not.toContain('<title>Loam</title>')
})

it('files of the build are cached for ever, and compressed if the browser accepts it', async () => {
  const url = '/assets/app-1a2b.js'
  const [plain, gzip, brotli, refused] = [
    await get(url),
    await get(url, { 'accept-encoding': 'gzip' }),
    await get(url, { 'accept-encoding': 'gzip, deflate, br' }),
    await get(url, { 'accept-encoding': 'br;q=0, gzip;q=0' }),
  ]
  expect([plain.body, plain.headers['content-encoding'], refused.body]).toEqual([script, undefined, script])
  expect(gzip.headers['content-encoding']).toBe('gzip')
  expect(brotli.headers['content-encoding']).toBe('br')
  expect(String(brotliDecompressSync(brotli.rawPayload))).toBe(script)
  for (const { headers } of [plain, gzip, brotli]) {
    expect(headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      'x-content-type-options': 'nosniff',
    })
  }
  expect((await get('/assets/plain.css', { 'accept-encoding': 'br' })).body).toBe('a{}')
  expect((await get('/icon.svg')).headers['content-type']).toBe('image/svg+xml')
})

it.each([
  '/assets/unknown.js',
  '/assets/',
  '/assets/../index.html',
  '/assets/..%2findex.html',
  '/assets/%2e%2e/%2e%2e/secret.js',
  '/assets/..%2f..%2fsecret.js',
  '/assets/app-1a2b.js.br',
  '/assets/app-1a2b.js%00',
])('%s is 404', async (url) => {
  const answer = await get(url, { accept: '*/*' })
  expect([answer.statusCode, answer.json().error]).toEqual([404, 'Not Found'])
})

it('a file that was built after the start is served too', async () => {
  expect((await get('/assets/later.js')).statusCode).toBe(404)
  writeFileSync(join(folder, 'dist/assets/later.js'), 'later')
  expect((await get('/assets/later.js')).body).toBe('later')
})
