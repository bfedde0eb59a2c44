import { describe, expect, it } from 'vitest'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { findSheet, type SheetRecord } from '#server/sheets/store/sheets.ts'
import { makeRowSheet } from '#test/builders/rows.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { type Arrival, arriveOnSheets, arriveRows } from './arrivals.ts'

const app = await makeApp()
const org = await app.makeOrg()
const db = app.store.org(org.orgId)

async function makeSheet({ autoRun = false, actions = 1 } = {}): Promise<SheetRecord> {
  const base = await makeRowSheet(org)
  for (let n = 0; n < actions; n += 1) {
    const inputs = { value: '{{input.domain}}' }
    await org.call('POST', `${base}/actions/add`, { action_id: 'normalize_domain', inputs })
  }
  await org.call('PATCH', base, { auto_run: autoRun })
  const sheet = await findSheet(db, org.orgId, base.slice(-36))
  if (sheet === undefined) throw new Error('the sheet was made')
  return sheet
}

const rows = (count: number) => Array.from({ length: count }, () => '{}')
const arrival = (sheet: SheetRecord, more: Partial<Arrival> = {}): Arrival => ({
  sheet,
  data: rows(25),
  actor: OPERATOR,
  trigger: 'api',
  run: 'none',
  ...more,
})

const runsOf = ({ sheet_id, workflow_id }: SheetRecord) =>
  org
    .call('GET', `/workflows/${workflow_id}/sheets/${sheet_id}/runs`)
    .then(({ body }) => body.data.map((run: { trigger: string }) => run.trigger))

describe('D16: arriving rows run as the sheet or the request says', () => {
  it.each([
    { autoRun: false, more: {}, queued: 0, triggers: [] },
    { autoRun: false, more: { run: 'all' }, queued: 25, triggers: ['api'] },
    { autoRun: false, more: { run: 'first_10' }, queued: 10, triggers: ['api'] },
    { autoRun: false, more: { run: 'first_10', earlier: 7 }, queued: 3, triggers: ['api'] },
    { autoRun: false, more: { run: 'first_10', earlier: 10 }, queued: 0, triggers: [] },
    { autoRun: true, more: {}, queued: 25, triggers: ['auto_run'] },
    { autoRun: true, more: { run: 'first_10' }, queued: 25, triggers: ['api'] },
    { autoRun: true, more: { data: [] }, queued: 0, triggers: [] },
    { autoRun: true, actions: 0, more: { run: 'all' }, queued: 0, triggers: [] },
    { autoRun: true, more: { trigger: 'source' }, queued: 25, triggers: ['source'] },
    { autoRun: false, more: { trigger: 'segment' }, queued: 0, triggers: [] },
  ] as const)('auto_run $autoRun, $more: $queued queued', async ({ more, queued, triggers, ...of }) => {
    const sheet = await makeSheet(of)
    const arrived = await arriveRows(db, arrival(sheet, more))
    expect([arrived.queued, arrived.runId !== null]).toEqual([queued, queued > 0])
    expect(await runsOf(sheet)).toEqual(triggers)
  })
})

it('rows of many sheets arrive in one transaction; a sheet deleted meanwhile gets none', async () => {
  const sheets = [await makeSheet({ autoRun: true }), await makeSheet(), await makeSheet({ autoRun: true })]
  const [, , gone] = sheets
  await org.call('DELETE', `/workflows/${gone?.workflow_id}`)
  const arrived = await db.transaction().execute((trx) =>
    arriveOnSheets(
      trx,
      sheets.map((sheet) => arrival(sheet, { trigger: 'webhook', data: rows(2) })),
    ),
  )
  expect(arrived.map((one) => one && [one.rowIds.length, one.queued])).toEqual([[2, 2], [2, 0], null])
})

it('a pinned version runs whatever the sheet is now', async () => {
  const sheet = await makeSheet({ actions: 2 })
  const before = { revision: sheet.revision - 1, continue_on_fail: true }
  const { runId } = await arriveRows(db, arrival(sheet, { trigger: 'shortcut', pinned: before }))
  const [run] = await app.store.query({
    text: 'select revision, continue_on_fail, cardinality(actions) as actions from runs where run_id = $1',
    values: [runId],
  })
  expect(run).toEqual({ ...before, actions: 1 })
})

it('a run and its rows are stored together or not at all', async () => {
  const sheet = await makeSheet({ autoRun: true })
  const failing = db.transaction().execute(async (trx) => {
    await arriveRows(trx, arrival(sheet))
    throw new Error('the caller fails')
  })
  await expect(failing).rejects.toThrow('the caller fails')
  expect(await runsOf(sheet)).toEqual([])
  const list = `/workflows/${sheet.workflow_id}/sheets/${sheet.sheet_id}/rows/list`
  expect((await org.call('POST', list, {})).body.data.total_count).toBe(0)
})
