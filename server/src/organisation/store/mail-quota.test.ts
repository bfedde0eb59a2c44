import { expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { createLog } from '#server/lib/log.ts'
import { makeRowSheet } from '#test/builders/rows.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { openStore } from '../../database/connection/db.ts'
import { takeMailTurn } from './mail-quota.ts'

const app = await makeApp()
const db = app.store.system

const turnOf = (orgId: string, recipients: number, from = db) =>
  takeMailTurn(from, { orgId, runId: newId(), recipients, perHour: 200 })

it('of 60 simultaneous mails of two processes exactly the hourly limit is sent', async () => {
  const org = await app.makeOrg()
  const second = openStore({ url: app.databaseUrl, log: createLog('silent') })
  try {
    const turns = await Promise.all(
      Array.from({ length: 60 }, (_, n) => turnOf(org.orgId, 7, n % 2 === 0 ? db : second.system)),
    )
    expect(turns.filter(({ ok }) => ok)).toHaveLength(28)
    for (const turn of turns) {
      if (turn.ok) continue
      expect(turn.waitMs).toBeGreaterThan(0)
      expect(turn.waitMs).toBeLessThanOrEqual(3_600_000)
    }
    // A mail over the limit was not counted.
    expect((await turnOf(org.orgId, 4)).ok).toBe(true)
    expect((await turnOf(org.orgId, 1)).ok).toBe(false)
  } finally {
    await second.close()
  }
})

it('a new hour starts at zero, another organisation has its own count, and a mail larger than the limit is always refused', async () => {
  const [org, other] = [await app.makeOrg(), await app.makeOrg()]
  expect((await turnOf(org.orgId, 200)).ok).toBe(true)
  expect((await turnOf(org.orgId, 1)).ok).toBe(false)
  expect((await turnOf(other.orgId, 201)).ok).toBe(false)
  expect((await turnOf(other.orgId, 1)).ok).toBe(true)
  await app.store.query({
    text: `update mail_windows set hour = hour - interval '1 hour' where org_id = $1`,
    values: [org.orgId],
  })
  expect((await turnOf(org.orgId, 200)).ok).toBe(true)
})

it('replies go to the member who started the run', async () => {
  const org = await app.makeOrg()
  const path = await makeRowSheet(org)
  await org.call('POST', `${path}/actions/add`, {
    action_id: 'normalize_domain',
    inputs: { value: '{{input.domain}}' },
  })
  await org.call('POST', `${path}/rows`, { rows: [{ domain: 'a.com' }], run_after_add: 'all' })
  const { run_id: runId } = await db
    .selectFrom('runs')
    .select('run_id')
    .where('org_id', '=', org.orgId)
    .executeTakeFirstOrThrow()
  const turn = await takeMailTurn(db, { orgId: org.orgId, runId, recipients: 1, perHour: 200 })
  expect(turn).toEqual({ ok: true, replyTo: org.adminEmail })
})
