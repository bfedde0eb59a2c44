import { sql } from 'kysely'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { setSchedule } from '#server/runs/schedules.ts'
import { listDueSchedules } from '#server/runs/store/schedules.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'
import { startDueRuns } from './scheduler.ts'

const app = await makeApp()
const { store } = app
const { log, catalogue } = app.services
const org = await app.makeOrg()
const { makeSheet, addRows } = rowsOf(org)
const ADD = { action_id: 'normalize_domain', inputs: { value: '{{input.domain}}' } }

const keyOf = (base: string) => ({ org_id: org.orgId, sheet_id: base.slice(-36) })
const runsOf = async (base: string): Promise<Json[]> => (await org.call('GET', `${base}/runs`)).body.data
const nextRun = async (base: string) =>
  store.system
    .selectFrom('schedules')
    .select([
      'next_run_at',
      sql<boolean>`next_run_at > now()`.as('ahead'),
      sql<boolean>`next_run_at <= now() + interval '1 minute'`.as('within'),
    ])
    .where('sheet_id', '=', keyOf(base).sheet_id)
    .executeTakeFirst()

const EVERY_MINUTE = '* * * * *'
/** A schedule that no passing minute makes due. */
const EVERY_YEAR = '0 0 1 1 *'

/** Makes a sheet with an action and rows, scheduled every minute and due since `minutes`. */
async function makeDue(
  minutes: number,
  options: { rows?: number; chain?: boolean; cron?: string } = {},
): Promise<string> {
  const { rows = 2, chain = true, cron = EVERY_MINUTE } = options
  const base = await makeSheet()
  if (chain) await org.call('POST', `${base}/actions/add`, ADD)
  if (rows > 0)
    await addRows(
      base,
      Array.from({ length: rows }, (_, n) => ({ domain: `c${n}.example` })),
    )
  await setSchedule(store.system, OPERATOR, keyOf(base), { cron })
  await makeOverdue(base, minutes)
  return base
}

const makeOverdue = (base: string, minutes: number) =>
  sql`update schedules set next_run_at = now() - ${minutes} * interval '1 minute'
    where sheet_id = ${keyOf(base).sheet_id}`.execute(store.system)

afterEach(() => void vi.useRealTimers())
// Ids never go back: those of this process are a day ahead from here on, so later files load the modules again.
afterAll(() => void vi.resetModules())

describe('a schedule', () => {
  it('runs all rows of the sheet, with the trigger schedule; last_run_at stays (D45)', async () => {
    const base = await makeDue(0)
    await startDueRuns({ store, log, catalogue })
    expect(await runsOf(base)).toMatchObject([
      { trigger: 'schedule', rows_queued: 2, created_by: 'schedule' },
    ])
    expect((await org.call('GET', base.replace(/\/sheets.*/, ''))).body.data.last_run_at).toBeNull()
  })

  it('makes up once for the ticks of an hour without a scheduler', async () => {
    const base = await makeDue(60)
    await startDueRuns({ store, log, catalogue })
    await startDueRuns({ store, log, catalogue })
    expect(await runsOf(base)).toHaveLength(1)
    expect(await nextRun(base)).toMatchObject({ ahead: true, within: true })
  })

  it('D21: rows still in flight from the tick before join that run', async () => {
    const base = await makeDue(0)
    await startDueRuns({ store, log, catalogue })
    await makeOverdue(base, 0)
    await startDueRuns({ store, log, catalogue })
    expect((await runsOf(base)).map((run) => run.rows_queued)).toEqual([0, 2])
  })

  it.each([
    ['actions', { chain: false }],
    ['rows', { rows: 0 }],
  ])('of a sheet without %s passes, noted in the log', async (what, options) => {
    const base = await makeDue(0, options)
    const noted = vi.spyOn(log, 'info')
    await startDueRuns({ store, log, catalogue })
    expect(noted.mock.calls).toEqual([
      [expect.objectContaining({ sheet_id: keyOf(base).sheet_id }), expect.stringContaining(`no ${what}`)],
    ])
    noted.mockRestore()
    expect(await runsOf(base)).toEqual([])
    expect(await nextRun(base)).toMatchObject({ ahead: true })
  })

  it('goes with its sheet', async () => {
    const base = await makeDue(0)
    await org.call('DELETE', base.replace(/\/sheets.*/, ''))
    await startDueRuns({ store, log, catalogue })
    expect(await nextRun(base)).toBeUndefined()
  })

  it('that fails to start does not delay others, and is started when possible', async () => {
    const broken = await makeDue(30)
    const sound = await makeDue(5)
    await sql`alter table runs add constraint broken check (sheet_id <> ${sql.lit(keyOf(broken).sheet_id)})`.execute(
      store.system,
    )
    await startDueRuns({ store, log, catalogue })
    expect([await runsOf(broken), (await runsOf(sound)).length]).toEqual([[], 1])
    await sql`alter table runs drop constraint broken`.execute(store.system)
    await startDueRuns({ store, log, catalogue })
    expect(await runsOf(broken)).toHaveLength(1)
  })
})

describe('R4: many schedulers', () => {
  it('start exactly one run per tick', async () => {
    const bases = await Promise.all(
      Array.from({ length: 12 }, () => makeDue(1, { rows: 1, cron: EVERY_YEAR })),
    )
    for (let ticks = 1; ticks <= 3; ticks += 1) {
      await Promise.all(Array.from({ length: 4 }, () => startDueRuns({ store, log, catalogue })))
      const runs = await Promise.all(bases.map(runsOf))
      expect(runs.map((ofSheet) => ofSheet.length)).toEqual(bases.map(() => ticks))
      await Promise.all(bases.map((base) => makeOverdue(base, 1)))
    }
  })

  it.each([
    ['ahead', 86_400_000],
    ['behind', -86_400_000],
  ])(
    'go by the clock of the database: one whose own is a day %s is neither early nor late',
    async (_how, skew) => {
      const [due, calm] = [await makeDue(1), await makeDue(0)]
      await sql`update schedules set next_run_at = now() + interval '1 hour' where sheet_id = ${keyOf(calm).sheet_id}`.execute(
        store.system,
      )
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + skew })
      await startDueRuns({ store, log, catalogue })
      vi.useRealTimers()
      expect([(await runsOf(due)).length, (await runsOf(calm)).length]).toEqual([1, 0])
      expect(await nextRun(due)).toMatchObject({ ahead: true, within: true })
    },
  )
})

it('a worker process starts runs that are due and walks their rows', async () => {
  const base = await makeDue(1)
  const work = await startTestWorker(app)
  await expect.poll(() => runsOf(base)).toHaveLength(1)
  const rows = await settledRows(org, base)
  await work.stop()
  expect(rows.map((row) => row.row_status)).toEqual(['complete', 'complete'])
})

it('R16: many due schedules of one organisation do not delay other organisations', async () => {
  await startDueRuns({ store, log, catalogue })
  for (const minutes of [9, 8, 7]) await makeDue(minutes, { rows: 0, chain: false })
  const other = await app.makeOrg()
  const sheet = { org_id: other.orgId, sheet_id: (await rowsOf(other).makeSheet()).slice(-36) }
  await setSchedule(store.system, OPERATOR, sheet, { cron: EVERY_MINUTE })
  await sql`update schedules set next_run_at = now() - interval '1 minute' where sheet_id = ${sheet.sheet_id}`.execute(
    store.system,
  )
  expect((await listDueSchedules(store.system, 2)).map(({ org_id }) => org_id)).toEqual([
    org.orgId,
    other.orgId,
  ])
  await startDueRuns({ store, log, catalogue })
  expect(await listDueSchedules(store.system, 1)).toEqual([])
})
