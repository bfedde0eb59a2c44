import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { inTransaction } from '#server/database/connection/db.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { launchRest } from '#server/runs/launch-pieces.ts'
import { startRun } from '#server/runs/queue.ts'
import { editRows } from '#server/sheets/store/row-edits.ts'
import { findSheet } from '#server/sheets/store/sheets.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

const app = await makeApp()
const org = await app.makeOrg()
for (const concurrency of [7, 20]) await startTestWorker(app, { concurrency })

const DOMAIN = '{{input.domain}}'
const NORMALIZED = '{{normalize_domain_1.domain}}'

async function makeSheet(
  columns: string,
  settings: Record<string, unknown> = {},
  inputs = {},
): Promise<string> {
  const { workflow_id } = (await org.call('POST', '/workflows', { name: 'Dedupe' })).body.data
  const base = `/workflows/${workflow_id}/sheets/${workflow_id}`
  await org.call('POST', `${base}/inputs`, [{ name: 'domain', type: 'url' }])
  await org.call('PATCH', base, settings)
  const add = (action_id: string, given: object) =>
    org.call('POST', `${base}/actions/add`, { action_id, inputs: given })
  if (columns === NORMALIZED) await add('normalize_domain', { value: DOMAIN })
  const { status } = await add('auto_dedupe_rows', { auto_dedupe_columns: [columns], ...inputs })
  expect(status).toBe(201)
  return base
}

const addRows = async (base: string, domains: string[]): Promise<string[]> => {
  const rows = domains.map((domain) => ({ domain }))
  return (await org.call('POST', `${base}/rows`, { rows })).body.data.row_ids
}
const verdictsOf = async (base: string): Promise<unknown[]> =>
  (await settledRows(org, base)).map(
    ({ cells }) =>
      (cells['auto_dedupe_rows_1'] as { outputs?: { value_type: string } } | undefined)?.outputs?.value_type,
  )

const PAIRS = Array.from({ length: 60 }, (_, n) => `a${n}.com`)
const FIRST = PAIRS.map(() => 'unique')
const SECOND = PAIRS.map(() => 'duplicate')

it.each<[string, Record<string, unknown>]>([
  [DOMAIN, {}],
  [NORMALIZED, {}],
  [DOMAIN, { cache_enabled: true }],
])(
  'D72: of each pair by %s, with %j, the first by insertion is unique, with several workers',
  async (columns, settings) => {
    const base = await makeSheet(columns, settings)
    await addRows(base, PAIRS)
    await addRows(base, PAIRS.toReversed())
    expect((await org.call('POST', `${base}/run-all`)).body.data.rows_queued).toBe(PAIRS.length * 2)
    expect(await verdictsOf(base)).toEqual([...FIRST, ...SECOND])
  },
)

it('D72: a row that runs before the first one is a duplicate all the same, and the first stays unique', async () => {
  const base = await makeSheet(DOMAIN)
  const [first, second] = await addRows(base, ['a.com', 'a.com'])
  await org.call('POST', `${base}/run`, { row_ids: [second] })
  expect(await verdictsOf(base)).toEqual([undefined, 'duplicate'])
  await org.call('POST', `${base}/run`, { row_ids: [first] })
  expect(await verdictsOf(base)).toEqual(['unique', 'duplicate'])
})

it.each([DOMAIN, NORMALIZED])(
  'D72: once the first row by %s is gone, the next one is the first',
  async (columns) => {
    const base = await makeSheet(columns, { auto_run: true })
    const [first = ''] = await addRows(base, ['a.com', 'a.com', 'b.com', 'a.com'])
    expect(await verdictsOf(base)).toEqual(['unique', 'duplicate', 'unique', 'duplicate'])
    await org.call('POST', `${base}/rows/delete`, { row_ids: [first] })
    await org.call('POST', `${base}/run-all`)
    expect(await verdictsOf(base)).toEqual(['unique', 'unique', 'duplicate'])
    await org.call('POST', `${base}/rows/delete-all`)
    await addRows(base, ['b.com', 'b.com'])
    expect(await verdictsOf(base)).toEqual(['unique', 'duplicate'])
  },
)

it.each([DOMAIN, NORMALIZED])('D72: by %s, an edited row is compared by its new value', async (columns) => {
  const base = await makeSheet(columns, {}, { ignore_case: true })
  const [first = ''] = await addRows(base, ['a.com', 'b.com', 'A.com'])
  await org.call('POST', `${base}/run-all`)
  expect(await verdictsOf(base)).toEqual(['unique', 'unique', 'duplicate'])
  const sheet = { org_id: org.orgId, sheet_id: base.slice(-36) }
  const column = JSON.stringify({ 1: 'b.com' })
  await inTransaction(app.store.system, (trx) => editRows(trx, sheet, [{ rowId: first, data: column }]))
  await org.call('POST', `${base}/run-all`)
  expect(await verdictsOf(base)).toEqual(['unique', 'duplicate', 'unique'])
})

it('D72: duplicates that are removed are the later ones', async () => {
  const base = await makeSheet(DOMAIN, {}, { select_dedupe_action: 'delete_duplicate', ignore_case: true })
  const kept = await addRows(base, PAIRS)
  await addRows(
    base,
    PAIRS.map((domain) => domain.toUpperCase()),
  )
  await org.call('POST', `${base}/run-all`)
  await expect.poll(async () => (await settledRows(org, base)).map(({ row_id }) => row_id)).toEqual(kept)
})

it('D72: no row waits for a row that halts before the action or skips it', async () => {
  const base = await makeSheet(NORMALIZED)
  const run_if = { conditions: [{ conditions: [{ variable: DOMAIN, operator: 'is', values: ['b.com'] }] }] }
  await org.call('PATCH', `${base}/actions/normalize_domain_1`, { run_if })
  await addRows(base, ['a.com', 'b.com', 'b.com'])
  await org.call('POST', `${base}/run-all`)
  expect(await verdictsOf(base)).toEqual([undefined, 'unique', 'duplicate'])
})

it('D72: a row that arrives while a run is being enqueued waits for the rows still to be enqueued', async () => {
  const base = await makeSheet(NORMALIZED)
  await addRows(base, PAIRS)
  const db = app.store.org(org.orgId)
  const sheet_id = base.slice(-36)
  const sheet = (await findSheet(db, org.orgId, sheet_id)) ?? expect.fail('it was made')
  const actions = ['normalize_domain_1', 'auto_dedupe_rows_1']
  const { runId, isLaunched } = await inTransaction(db, (trx) =>
    startRun(trx, OPERATOR, { sheet, actions, rows: { kind: 'all' }, trigger: 'schedule' }, 10),
  )
  expect(isLaunched).toBe(false)
  const late = { rows: [{ domain: PAIRS.at(-1) }], run_after_add: 'all' }
  await org.call('POST', `${base}/rows`, late)
  await sleep(500)
  await launchRest(db, { org_id: org.orgId, sheet_id, run_id: runId })
  expect(await verdictsOf(base)).toEqual([...FIRST, 'duplicate'])
})
