import { expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { admitAgentRun } from './agent-runs.ts'

const app = await makeApp()

it.each([
  ['at once', { atOnce: 5, perHour: 1000 }, 'busy'],
  ['in an hour', { atOnce: 1000, perHour: 5 }, 'limited'],
])('D51: of 30 calls at the same moment no more than 5 are admitted, %s', async (_name, quota, refused) => {
  const { orgId } = await app.makeOrg()
  const run = () => ({
    org_id: orgId,
    request_id: newId(),
    member_id: newId(),
    key_id: null,
    price_millis: 5000,
    prompt: 'Who?',
  })
  const calls = Array.from({ length: 30 }, () =>
    admitAgentRun(app.store.system, run(), { ...quota, maxSeconds: 180 }),
  )
  const kinds = (await Promise.all(calls)).map(({ kind }) => kind)
  expect(kinds.filter((kind) => kind === 'admitted')).toHaveLength(5)
  expect(kinds.filter((kind) => kind === refused)).toHaveLength(25)
  const { held_millis } = await app.store.system
    .selectFrom('organisations')
    .select('held_millis')
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow()
  expect(held_millis).toBe(25_000)
})
