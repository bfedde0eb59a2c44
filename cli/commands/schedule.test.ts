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

const org = await app.makeOrg()
const sheet_id = (await makeRowSheet(org)).slice(-36)

async function schedule(...args: string[]): Promise<{ exit: number | null; answer: Json }> {
  const { exit, stdout, stderr } = await runLoam(['schedule', ...args, '--json'], ENV)
  return { exit, answer: JSON.parse(exit === 0 ? stdout : stderr) }
}

it('D57: set prints sheet_id, cron and next_run_at; setting again replaces; list shows it; unset ends it', async () => {
  const first = await schedule('set', '--sheet', sheet_id, '--cron', '*/5 * * * *')
  expect(first).toEqual({
    exit: 0,
    answer: { sheet_id, cron: '*/5 * * * *', next_run_at: expect.stringMatching(/T\d\d:\d[05]:00\.000Z$/) },
  })
  expect(new Date(first.answer.next_run_at).getTime()).toBeGreaterThan(Date.now() - 60_000)
  const zone = ['--timezone', 'Asia/Kathmandu']
  const second = await schedule('set', '--sheet', sheet_id.toUpperCase(), '--cron', '0 9 * * *', ...zone)
  expect(second.answer.next_run_at).toMatch(/T03:15:00\.000Z$/)
  expect(await schedule('list')).toEqual({
    exit: 0,
    answer: [
      {
        sheet_id,
        workflow_id: sheet_id,
        name: 'Rows',
        cron: '0 9 * * *',
        only_rows: null,
        max_credits: null,
        timezone: 'Asia/Kathmandu',
        next_run_at: second.answer.next_run_at,
      },
    ],
  })
  const { stdout } = await runLoam(['schedule', 'list'], ENV)
  expect(stdout).toContain('Asia/Kathmandu')
  for (const was_set of [true, false]) {
    expect(await schedule('unset', '--sheet', sheet_id)).toEqual({
      exit: 0,
      answer: { sheet_id, cron: null, next_run_at: null, was_set },
    })
  }
  expect((await schedule('list')).answer).toEqual([])
})

it.each([
  ['a bad line', ['--cron', '99 * * * *'], [{ field: 'cron', message: expect.stringContaining('99') }]],
  [
    'a date that never comes',
    ['--cron', '0 0 31 2 *'],
    [{ field: 'cron', message: expect.stringContaining('ever') }],
  ],
  [
    'a bad line and a bad time zone',
    ['--cron', 'daily', '--timezone', 'Berlin'],
    [
      { field: 'timezone', message: expect.stringContaining('Europe/Berlin') },
      { field: 'cron', message: expect.stringContaining('*/5 * * * *') },
    ],
  ],
])('set fails with %s and says what is wrong', async (_what, flags, errors) => {
  const { exit, answer } = await schedule('set', '--sheet', sheet_id, ...flags)
  expect([exit, answer.errors]).toEqual([2, errors])
})

it('M16: --max-credits caps the run of each tick; setting it again without the flag removes the cap', async () => {
  const set = (...flags: string[]) => schedule('set', '--sheet', sheet_id, '--cron', '0 0 1 1 *', ...flags)
  expect((await set('--max-credits', '2.5')).answer.max_credits).toBe(2.5)
  expect((await schedule('list')).answer[0].max_credits).toBe(2.5)
  const { exit, answer } = await set('--max-credits', '2.5555')
  expect([exit, answer.errors[0].field]).toEqual([2, 'max-credits'])
  expect((await set()).answer).not.toHaveProperty('max_credits')
  expect((await schedule('list')).answer[0].max_credits).toBeNull()
})
