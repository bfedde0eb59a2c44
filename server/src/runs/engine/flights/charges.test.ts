import { expect, it } from 'vitest'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { newId } from '#server/lib/ids.ts'
import { setPrice } from '#server/money/prices.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

const app = await makeApp()
const org = await app.makeOrg()
type Entry = { row_id: string; action: string; amount_millis: number; balance_millis: number }
const entriesOf = (sheetId: string) =>
  app.store.query<Entry>({
    text: `select row_id, action, amount_millis, balance_millis from ledger_entries
      where org_id = $1 and sheet_id = $2 and type = 'charge' order by entry_id`,
    values: [org.orgId, sheetId],
  })

it('a row whose cells are charged together is named once, and each of its cells has an entry with it', async () => {
  await setPrice(app.store.system, await loadCatalogue(), { action: 'normalize_domain', credits: 1 })
  const made = await org.call('POST', '/workflows', { name: 'Charged' })
  const id: string = made.body.data.workflow_id
  const base = `/workflows/${id}/sheets/${id}`
  await org.call('POST', `${base}/inputs`, [{ name: 'website', type: 'string' }])
  const actions = ['normalize_domain_1', 'normalize_domain_2', 'normalize_domain_3']
  for (const _ of actions) {
    const step = { action_id: 'normalize_domain', inputs: { value: '{{input.website}}' } }
    const added = await org.call('POST', `${base}/actions/add`, step)
    expect(added.status).toBe(201)
  }
  // Rows after the first 50 share jobs and statements.
  const rows = Array.from({ length: 90 }, (_, n) => ({ website: `https://site${n}.example` }))
  const { body } = await org.call('POST', `${base}/rows`, { rows, run_after_add: 'all' })
  const worker = await startTestWorker(app)
  await settledRows(org, base)
  await worker.stop()

  const entries = await entriesOf(id)
  const rowIds: string[] = body.data.row_ids
  const cells = rowIds.flatMap((row) => actions.map((action) => `${row} ${action}`))
  expect(entries.map(({ row_id, action }) => `${row_id} ${action}`).toSorted()).toEqual(cells.toSorted())
  for (const [n, { amount_millis, balance_millis }] of entries.entries()) {
    expect(amount_millis).toBe(-1000)
    if (n > 0) expect(balance_millis).toBe((entries[n - 1]?.balance_millis ?? 0) - 1000)
  }
  const [names] = await app.store.query<{ named: number; entries: number }>({
    text: `select sum(cardinality(row_ids))::int as named, sum(entries)::int as entries from credit_blocks
      where org_id = $1 and sheet_id = $2`,
    values: [org.orgId, id],
  })
  // Some rows may have been settled in two statements.
  expect(names?.entries).toBe(cells.length)
  expect(names?.named).toBeLessThan(cells.length / 2)
})

it('older blocks, which name the row of every entry, are still read', async () => {
  const [sheet, one, other] = [newId(), newId(), newId()]
  await app.store.query({
    text: `insert into credit_blocks (org_id, first_id, last_id, entries, at, millis, balance_millis, purse_ids, reason, sheet_id,
        kinds, row_ids, kind_of)
      select $1, first, loam_later_entry(first, 2), 3, now(), 5000, 0, '{}', 'cell', $2,
        '[["a_1", "a", 1000, null, 2], ["b_1", "b", 3000, null, 1]]', $3::uuid[], '{0,1,0}'
      from (select $4::uuid as first) made`,
    values: [org.orgId, sheet, [one, one, other], newId()],
  })
  expect(await entriesOf(sheet)).toEqual([
    { row_id: one, action: 'a_1', amount_millis: -1000, balance_millis: 4000 },
    { row_id: one, action: 'b_1', amount_millis: -3000, balance_millis: 1000 },
    { row_id: other, action: 'a_1', amount_millis: -1000, balance_millis: 0 },
  ])
})
