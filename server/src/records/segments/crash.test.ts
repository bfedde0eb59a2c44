import { expect, it } from 'vitest'
import { makeApp } from '#test/plumbing/harness.ts'
import { startTestWorker } from '#test/plumbing/worker.ts'
import { addJobsStatement } from '../../database/queue/jobs.ts'
import { Killed, killedAt } from '../../sources/pulls/testing/fault-store.ts'
import { company, NOW, recordsOf } from '../testing/records.ts'
import { evaluateSegments } from './evaluate.ts'
import { requireSegment } from './segments.ts'
import { filterOf, segmentsOf, where } from './testing/segments.ts'

const app = await makeApp()
const { ingest } = recordsOf(app)
const { create, evaluate, members, feed } = segmentsOf(app)
const MAX_STATEMENTS = 500
const SMALL = filterOf(where('size', 'less than', '7'))

async function makeCompanies(orgId: string, at = '2026-01-01T00:00:00Z', shift = 0) {
  const numbers = Array.from({ length: 10 }, (_, n) => n)
  await ingest(orgId, 'crm', ...numbers.map((n) => company(`c${n}.com`, { size: n + shift }, at)))
}

it('an evaluation that is killed before any statement loses and doubles nothing', async () => {
  const { orgId } = await app.makeOrg()
  await makeCompanies(orgId)
  const id = await create(orgId, SMALL)
  const survives = async (at: number) => {
    const db = killedAt(app.store, at).org(orgId)
    try {
      await evaluateSegments(db, orgId, id, { now: NOW, batch: 4 })
      return true
    } catch (cause) {
      if (cause instanceof Killed) return false
      throw cause
    }
  }
  let statements = 1
  while (!(await survives(statements)) && statements < MAX_STATEMENTS) statements += 1
  expect(statements).toBeGreaterThan(5)
  await makeCompanies(orgId, '2026-01-02T00:00:00Z', 3)
  while (!(await survives(statements)) && statements < MAX_STATEMENTS) statements += 1
  const kinds = (await feed(orgId, id)).map(({ kind }) => kind)
  expect(kinds).toEqual([...Array.from({ length: 7 }, () => 'enter'), 'exit', 'exit', 'exit'])
  expect((await feed(orgId, id)).map(({ seq }) => seq)).toEqual(kinds.map((_, n) => n + 2))
  expect(await members(orgId, id)).toHaveLength(4)
})

it('R4: several schedulers at one tick evaluate once: no change is doubled', async () => {
  const { orgId } = await app.makeOrg()
  await makeCompanies(orgId)
  const id = await create(orgId, SMALL)
  const tick = () => Promise.all([1, 2, 3, 4].map(() => evaluate(orgId, id, { now: NOW, batch: 3 })))
  expect(await tick()).toEqual([true, true, true, true])
  await makeCompanies(orgId, '2026-01-02T00:00:00Z', 3)
  await tick()
  expect(await feed(orgId, id)).toHaveLength(10)
  expect(await requireSegment(app.store.org(orgId), { org_id: orgId, segment_id: id })).toMatchObject({
    member_count: 4,
    last_seq: 11,
  })
})

it('each minute a worker evaluates the segments that are due', async () => {
  const { orgId } = await app.makeOrg()
  await makeCompanies(orgId)
  const id = await create(orgId, SMALL)
  await startTestWorker(app)
  // Queued in the same way as the clock does.
  const job = { task: 'find_due_segments', payload: `'{}'`, priority: '0', from: '(values (1)) v' }
  await app.store.query({ text: addJobsStatement('jobs', job) })
  await expect.poll(() => members(orgId, id)).toHaveLength(7)
})
