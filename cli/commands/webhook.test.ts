import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { makeRowSheet } from '#test/builders/rows.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { runLoam } from '../testing/loam.ts'

const app = await makeApp()
const folder = mkdtempSync(join(tmpdir(), 'loam-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const ENV = { DATABASE_URL: app.databaseUrl, LOAM_SECRET: 'a secret for tests only', LOAM_DATA_DIR: folder }

const [org, other] = [await app.makeOrg(), await app.makeOrg()]
const base = await makeRowSheet(org)
const sheet_id = base.slice(-36)
const NOBODY = '00000000-0000-7000-8000-000000000000'

async function webhook(
  args: string[],
  env: Record<string, string> = {},
): Promise<{ exit: number | null; answer: Json }> {
  const { exit, stdout, stderr } = await runLoam(['webhook', ...args, '--json'], { ...ENV, ...env })
  return { exit, answer: JSON.parse(exit === 0 ? stdout : stderr) }
}

it('D57: enable prints sheet_id and webhook_url, the same URL again, a new one with --rotate; disable ends it', async () => {
  const enabled = await webhook(['enable', '--sheet', sheet_id.toUpperCase()])
  expect(enabled).toEqual({
    exit: 0,
    answer: { sheet_id, webhook_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8787\/hooks\/\w{40}$/) },
  })
  const path = new URL(enabled.answer.webhook_url).pathname
  const again = await webhook(['enable', '--sheet', sheet_id, '--org', org.orgId], {
    LOAM_PUBLIC_URL: 'https://loam.example/',
  })
  expect(again.answer).toEqual({ sheet_id, webhook_url: `https://loam.example${path}` })
  const { sheets } = (await org.call('GET', base.replace(/\/sheets.*/, ''))).body.data
  expect(sheets[0].webhook_url).toBe(`http://loam.test${path}`)

  const push = async (to: string) =>
    (await app.api.inject({ method: 'POST', url: to, payload: { Company: 'Acme', x: 1 } })).statusCode
  expect(await push(path)).toBe(200)
  const rotated = new URL((await webhook(['enable', '--sheet', sheet_id, '--rotate'])).answer.webhook_url)
    .pathname
  expect([await push(path), await push(rotated)]).toEqual([404, 200])
  for (const _ of [1, 2]) {
    expect(await webhook(['disable', '--sheet', sheet_id])).toEqual({
      exit: 0,
      answer: { sheet_id, webhook_url: null },
    })
  }
  expect(await push(rotated)).toBe(404)
})

it('deliveries lists the latest first', async () => {
  const { exit, answer } = await webhook(['deliveries', '--sheet', sheet_id, '--limit', '1'])
  expect([exit, answer]).toEqual([
    0,
    [
      {
        at: expect.stringMatching(/^\d{4}-.*Z$/),
        status: 200,
        webhook_id: null,
        accepted: 1,
        rejected: 0,
        reason: null,
        body: '{"Company":"Acme","x":1}',
      },
    ],
  ])
  const { stdout } = await runLoam(['webhook', 'deliveries', '--sheet', sheet_id], ENV)
  expect(stdout).toMatch(/^AT +STATUS.*\n(.+200 +1 +0.+Acme.+\n){2}$/)
})

it.each([
  ['an unknown sheet', ['--sheet', NOBODY], 3, 'Sheet'],
  ['a sheet of another organisation', ['--sheet', sheet_id, '--org', other.orgId], 3, 'Sheet'],
  ['no id', ['--sheet', 'leads'], 2, 'validation'],
])('enable fails with %s', async (_what, flags, exit, message) => {
  const failed = await webhook(['enable', ...flags])
  expect([failed.exit, failed.answer.message]).toEqual([exit, expect.stringContaining(message)])
})

it('M16: --max-credits-per-day caps the daily cost of deliveries, until it is set to none', async () => {
  const enable = async (...flags: string[]) =>
    (await webhook(['enable', '--sheet', sheet_id, ...flags])).answer.max_credits_per_day
  expect(await enable('--max-credits-per-day', '12.5')).toBe(12.5)
  expect(await enable('--rotate')).toBe(12.5)
  expect(await enable('--max-credits-per-day', 'none')).toBeUndefined()
  const { exit, answer } = await webhook(['enable', '--sheet', sheet_id, '--max-credits-per-day', '-1'])
  expect([exit, answer.errors[0].field]).toEqual([2, 'max-credits-per-day'])
})
