import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { publish } from '#server/api/testing/shortcut.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { makeApp, type TestOrg } from '#test/plumbing/harness.ts'
import { requireRoomForRevision } from './old-revisions.ts'

const app = await makeApp({ settings: { LOAM_REVISIONS_KEPT: '3' } })

const revisionsOf = async (base: string): Promise<number[]> => {
  const { rows } = await sql<{ revision: number }>`select revision from chain_revisions
    where sheet_id = ${base.slice(-36)} order by 1`.execute(app.store.system)
  return rows.map((row) => row.revision)
}
const age = (base: string) =>
  sql`update chain_revisions set created_at = created_at - interval '3 minutes'
    where sheet_id = ${base.slice(-36)}`.execute(app.store.system)

async function makeChain(org: TestOrg) {
  const base = await rowsOf(org).makeSheet(['website'])
  const step = { action_id: 'normalize_domain', inputs: { value: '{{input.website}}' } }
  expect((await org.call('POST', `${base}/actions/add`, step)).status).toBe(201)
  let edits = 0
  const edit = async () => {
    edits += 1
    return org.call('PATCH', `${base}/actions/normalize_domain_1`, {
      inputs: { value: `{{input.website}}/${edits}` },
    })
  }
  return { base, edit }
}

it('of the revisions of a sheet the latest are kept, and those a moment ago (LOAM_REVISIONS_KEPT)', async () => {
  const { base, edit } = await makeChain(await app.makeOrg())
  for (let n = 0; n < 4; n++) expect((await edit()).status).toBe(200)
  const before = await revisionsOf(base)
  expect(before.length).toBeGreaterThan(4)
  await age(base)
  await edit()
  const latest = (before.at(-1) ?? 0) + 1
  expect(await revisionsOf(base)).toEqual([latest - 2, latest - 1, latest])
})

it('a revision that a run or a shortcut needs is kept', async () => {
  const org = await app.makeOrg()
  const { base, edit } = await makeChain(org)
  const revision = (await revisionsOf(base)).at(-1) ?? 0
  await org.call('POST', `${base}/rows`, { rows: [{ website: 'a.example' }], run_after_add: 'all' })
  await edit()
  await publish(app, org, base.slice(-36))
  for (let n = 0; n < 4; n++) await edit()
  await age(base)
  await edit()
  const kept = await revisionsOf(base)
  expect(kept.slice(0, 2)).toEqual([revision, revision + 1])
  expect(kept).toHaveLength(5)
  // A run stopped within the hour may have rows in flight. After that, nothing needs its revision.
  await org.call('POST', `${base}/stop`)
  await edit()
  expect(await revisionsOf(base)).toContain(revision)
  await sql`update runs set finished_at = now() - interval '2 hours' where sheet_id = ${base.slice(-36)}`.execute(
    app.store.system,
  )
  await edit()
  expect(await revisionsOf(base)).not.toContain(revision)
  expect(await revisionsOf(base)).toContain(revision + 1)
})

it('many changes of a large sheet in a moment are 429 until they are old', async () => {
  const { base, edit } = await makeChain(await app.makeOrg())
  // The column is not compressed, as if a large chain had incompressible texts.
  await sql`alter table chain_revisions alter column definition set storage external`.execute(
    app.store.system,
  )
  await sql`insert into chain_revisions (org_id, sheet_id, revision, definition, created_by)
    select org_id, sheet_id, -n, jsonb_build_array(repeat('x', 8000000)), 'test'
    from chain_revisions c, generate_series(1, 5) n
    where c.sheet_id = ${base.slice(-36)} and c.revision = 1`.execute(app.store.system)
  expect((await edit()).body).toMatchObject({
    status: 429,
    retryAfter: 120,
    message: expect.stringContaining('the limit is 33554432. Wait a moment'),
  })
  await age(base)
  expect((await edit()).status).toBe(200)
  expect(await revisionsOf(base)).toSatisfy((left: number[]) => left.every((revision) => revision > 0))
})

it('a sheet whose inputs and actions would take over 8 MiB is 413, with how much it would be', async () => {
  const large = { column: 1, name: 'x'.repeat(9_000_000), type: 'string' as const, description: '' }
  const sheet = { org_id: randomUUID(), sheet_id: randomUUID() }
  await expect(
    requireRoomForRevision(app.store.system, sheet, { inputs: [large], actions: [] }),
  ).rejects.toMatchObject({
    status: 413,
    message: expect.stringMatching(/take 90\d{5} bytes, and the limit is 8388608/),
  })
})
