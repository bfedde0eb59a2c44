import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { pruneFeeds } from '#server/records/segments/segment-jobs.ts'
import { updateSegment } from '#server/records/segments/segments.ts'
import { filterOf, segmentsOf, where } from '#server/records/segments/testing/segments.ts'
import { company, recordsOf } from '#server/records/testing/records.ts'
import { makeApp, type TestOrg } from '#test/plumbing/harness.ts'

const app = await makeApp()
const { ingest } = recordsOf(app)
const { create, evaluate } = segmentsOf(app)
const NEVER = new AbortController().signal
const LIST = '/records/observe/segments'
const feedOf = (id: string, query = '') => `${LIST}/${id}/changes${query}`

const SOFTWARE = filterOf(where('industry', 'is', 'software'))
let minute = 0
/** Puts the companies `c1.com` and so on into this industry from now on. */
async function say(orgId: string, industry: string, ...numbers: number[]) {
  const at = new Date(Date.UTC(2026, 0, 1, 0, minute++)).toISOString()
  await ingest(orgId, 'crm', ...numbers.map((n) => company(`c${n}.com`, { industry }, at)))
}

async function makeSegment(org: TestOrg, ...numbers: number[]) {
  await say(org.orgId, 'software', ...numbers)
  const id = await create(org.orgId, SOFTWARE)
  await evaluate(org.orgId, id)
  return id
}
const read = (org: TestOrg, id: string, query = '') => org.call('POST', feedOf(id, query))

describe('D80: the list of segments', () => {
  it('answers data and pagination.total; each has an id, a name and its kind', async () => {
    const org = await app.makeOrg()
    const first = await makeSegment(org, 1, 2)
    const second = await create(org.orgId, SOFTWARE)
    const { status, body } = await org.call('GET', `${LIST}?limit=1&offset=0`)
    expect([status, body.pagination]).toEqual([200, { limit: 1, offset: 0, total: 2 }])
    expect(body.data).toMatchObject([
      { id: first, entityKind: 'company', memberCount: 2, filter: SOFTWARE, filterHash: expect.any(String) },
    ])
    expect((await org.call('GET', `${LIST}?limit=1&offset=1`)).body.data).toMatchObject([{ id: second }])
    expect((await org.call('GET', LIST)).body.data).toHaveLength(2)
    expect((await org.call('GET', `${LIST}?limit=0`)).status).toBe(400)
    expect((await org.call('GET', `${LIST}?limit=101`)).status).toBe(400)
  })
})

describe('D80: the change feed', () => {
  it('answers without envelope; a trigger that starts at 0 sees what happens after, once', async () => {
    const org = await app.makeOrg()
    const id = await makeSegment(org, 1, 2)
    const { status, body: start } = await read(org, id, '?since=0')
    expect(status).toBe(200)
    expect(Object.keys(start).sort()).toEqual(['changes', 'filterHash', 'hasMore', 'nextSince', 'segmentId'])
    expect(start).toMatchObject({ segmentId: id, hasMore: false, nextSince: 3 })
    expect(start.changes).toMatchObject([
      { seq: 2, kind: 'enter', entityId: expect.any(String), at: expect.stringMatching(/Z$/) },
      { seq: 3, kind: 'enter' },
    ])
    await say(org.orgId, 'steel', 1)
    await evaluate(org.orgId, id)
    await say(org.orgId, 'software', 1, 3)
    await evaluate(org.orgId, id)
    const next = (await read(org, id, `?since=${start.nextSince}`)).body
    expect(next.changes.map(({ kind }: { kind: string }) => kind)).toEqual(['exit', 'reenter', 'enter'])
    expect([next.filterHash, next.hasMore, next.nextSince]).toEqual([start.filterHash, false, 6])
    expect((await read(org, id, '?since=6')).body).toEqual({ ...next, changes: [] })
  })

  it('a segment that is empty when a trigger starts also has a position to continue from', async () => {
    const org = await app.makeOrg()
    await say(org.orgId, 'steel', 1)
    const id = await create(org.orgId, SOFTWARE)
    await evaluate(org.orgId, id)
    const { nextSince } = (await read(org, id, '?since=0')).body
    await say(org.orgId, 'software', 1, 2, 3)
    await evaluate(org.orgId, id)
    const page = (await read(org, id, `?since=${nextSince}&limit=2`)).body
    expect([page.changes.length, page.hasMore, page.nextSince]).toEqual([2, true, 3])
    expect((await read(org, id, '?since=3&limit=2')).body).toMatchObject({ hasMore: false, nextSince: 4 })
  })

  it('starting at 0 with more changes than a page shows the latest and continues at the end; without since it is read whole', async () => {
    const org = await app.makeOrg()
    const id = await makeSegment(org, 1, 2, 3)
    const seqs = ({ changes }: { changes: { seq: number }[] }) => changes.map(({ seq }) => seq)
    const start = (await read(org, id, '?since=0&limit=2')).body
    expect([seqs(start), start.hasMore, start.nextSince]).toEqual([[3, 4], false, 4])
    const whole = (await read(org, id, '?limit=2')).body
    expect([seqs(whole), whole.hasMore, whole.nextSince]).toEqual([[2, 3], true, 3])
  })

  it('410 when changes after the cursor were removed by age, with what to do; 0 and no cursor continue', async () => {
    const org = await app.makeOrg()
    const id = await makeSegment(org, 1, 2)
    await sql`update segment_changes set at = now() - interval '31 days' where segment_id = ${id}`.execute(
      app.store.system,
    )
    await say(org.orgId, 'software', 3)
    await evaluate(org.orgId, id)
    await pruneFeeds(app.store, 30, NEVER)
    const { status, body } = await read(org, id, '?since=2')
    expect([status, body]).toEqual([
      410,
      { status: 410, error: 'Gone', message: expect.stringContaining('Restart with since=0') },
    ])
    for (const query of ['?since=0', '', '?since=3']) {
      const page = (await read(org, id, query)).body
      expect([page.changes.length, page.nextSince]).toEqual([1, 4])
    }
    expect((await read(org, id, '?since=99')).status).toBe(410)
  })

  it('409 when the filter changed: while it is evaluated, then to cursors from before it, and to a known hash that differs', async () => {
    const org = await app.makeOrg()
    const id = await makeSegment(org, 1)
    const key = { org_id: org.orgId, segment_id: id }
    const { nextSince, filterHash } = (await read(org, id, '?since=0')).body
    await updateSegment(app.store.org(org.orgId), key, OPERATOR, {
      filter: filterOf(where('industry', 'is not empty')),
    })
    const conflict = { status: 409, error: 'Conflict', message: expect.stringContaining('filter') }
    for (const query of ['?since=0', `?since=${nextSince}`, '']) {
      expect((await read(org, id, query)).body).toEqual(conflict)
    }
    await say(org.orgId, 'steel', 2)
    await evaluate(org.orgId, id)
    expect((await read(org, id, `?since=${nextSince}`)).body).toEqual(conflict)
    const restarted = (await read(org, id, '?since=0')).body
    expect(restarted.filterHash).not.toBe(filterHash)
    expect((await read(org, id, `?since=${restarted.nextSince}`)).status).toBe(200)
    expect((await read(org, id, `?since=${restarted.nextSince}&filterHash=${filterHash}`)).body).toEqual(
      conflict,
    )
    expect(
      (await read(org, id, `?since=${restarted.nextSince}&filterHash=${restarted.filterHash}`)).status,
    ).toBe(200)
    // A reader that treats 409 as "later" sees the other hash.
    await sql`update record_segments set filter_changed_at = now() - interval '6 minutes' where segment_id = ${id}`.execute(
      app.store.system,
    )
    const late = await read(org, id, `?since=${nextSince}`)
    expect([late.status, late.body.filterHash]).toEqual([200, restarted.filterHash])
  })

  it('409 while a new segment is evaluated for the first time', async () => {
    const org = await app.makeOrg()
    await say(org.orgId, 'software', 1)
    const id = await create(org.orgId, SOFTWARE)
    const { status, body } = await read(org, id, '?since=0')
    expect([status, body.message]).toEqual([409, expect.stringContaining('Try again shortly')])
  })

  it.each(['?since=-1', '?since=1.5', '?since=x', '?limit=0', '?limit=1001', '?since=', '?since=1&since=2'])(
    '400 for %s, naming the field',
    async (query) => {
      const org = await app.makeOrg()
      const id = await makeSegment(org, 1)
      const { status, body } = await read(org, id, query)
      expect([status, body.error]).toEqual([400, 'Validation Error'])
      expect(body.errors[0].field).toMatch(/since|limit/)
    },
  )

  it('401 without a key, 403 without the scope records, 400 for no UUID, 404 for what is not there or another organisation has', async () => {
    const org = await app.makeOrg()
    const other = await app.makeOrg()
    const id = await makeSegment(other, 1)
    const narrow = await org.keyFor('narrow@example.com', 'admin', { scopes: ['workflows:read'] })
    const status = async (key: string | null, path: string, method = 'POST') =>
      (await app.call(key, method, path)).status
    expect(await status(null, feedOf(id))).toBe(401)
    expect(await status(narrow, feedOf(id))).toBe(403)
    expect(await status(narrow, LIST, 'GET')).toBe(403)
    expect(await status(org.key, feedOf('7'))).toBe(400)
    expect(await status(org.key, feedOf(newId()))).toBe(404)
    expect((await org.call('POST', feedOf(id, '?since=0'))).body).toEqual({
      status: 404,
      error: 'Not Found',
      message: 'Segment not found',
    })
    expect((await org.call('GET', LIST)).body.data).toEqual([])
    expect(await status(other.key, feedOf(id.toUpperCase()))).toBe(200)
  })
})
