import { expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'

const app = await makeApp()

it('the start page says what Loam is, whether it is ready, what to do next, and where the docs are', async () => {
  const answer = await app.api.inject({ url: '/' })
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  expect(answer.headers['content-security-policy']).toContain("default-src 'none'")
  for (const text of [
    '<b>Ready.</b>',
    '/api/v1/user/',
    'npx loam actions',
    '${LOAM_DATA_DIR:-data}/admin-key',
    'href="/docs"',
  ]) {
    expect(answer.body).toContain(text)
  }
})

it('without its database the page says that it is not ready, with 503', async () => {
  const lost = await makeApp()
  await lost.store.close()
  const answer = await lost.api.inject({ url: '/' })
  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1'])
  expect(answer.body).toContain('<b>Not ready.</b>')
})
