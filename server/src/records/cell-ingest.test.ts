import { expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { createCellIngest } from './cell-ingest.ts'
import { ingestForCell } from './cell-writes.ts'
import type { GivenRecord } from './given-record.ts'

const app = await makeApp()

const cellOf = (runId: string) => ({ runId, rowId: newId(), action: 'records_ingest_1' })
const company = (domain: string, name: unknown): GivenRecord => ({
  source: 'sheet',
  kind: 'company',
  identifiers: [{ name: 'domain', value: domain }],
  fields: [{ name: 'name', value: name }],
})

it('P20: cells that ingest at the same time share transactions, and each has its own answer', async () => {
  const { orgId } = await app.makeOrg()
  const ingest = createCellIngest(app.store)
  const runId = newId()
  const domains = Array.from({ length: 300 }, (_, n) => `c${n % 150}.example`)
  const answers = await Promise.all(
    domains.map((domain) => ingest(orgId, cellOf(runId), company(domain, 'Acme'))),
  )
  const values = answers.map((answer) => (answer.ok ? answer.value : null))
  expect(values.filter((value) => value?.created)).toHaveLength(150)
  expect(new Set(values.map((value) => value?.entity_id)).size).toBe(150)
  const [counted] = await app.store.query<{ cells: number; transactions: number }>({
    text: `select count(*)::int as cells, count(distinct xmin::text)::int as transactions
      from record_cell_writes where org_id = $1`,
    values: [orgId],
  })
  expect(counted?.cells).toBe(300)
  expect(counted?.transactions).toBeLessThan(10)
})

it('a record that is refused, and one that was written before, take no other with them', async () => {
  const { orgId } = await app.makeOrg()
  const ingest = createCellIngest(app.store)
  const runId = newId()
  const before = cellOf(runId)
  const earlier = await ingestForCell(app.store.org(orgId), orgId, before, company('old.example', 'Old'))
  const huge = Object.fromEntries(Array.from({ length: 3 }, (_, n) => [`f${n}`, 'x'.repeat(900_000)]))
  const tooLarge = { ...company('big.example', 'Big'), fields: [] as { name: string; value: unknown }[] }
  tooLarge.fields = Object.entries(huge).map(([name, value]) => ({ name, value }))
  const [again, refused, none, fine] = await Promise.all([
    ingest(orgId, before, company('other.example', 'Other')),
    ingest(orgId, cellOf(runId), tooLarge),
    ingest(orgId, cellOf(runId), { ...company('x', 'x'), identifiers: [] }),
    ingest(orgId, cellOf(runId), company('fine.example', 'Fine')),
  ])
  expect(again).toEqual(earlier)
  expect(refused).toMatchObject({ ok: false, message: expect.stringContaining('at most') })
  expect(none).toEqual({ ok: false, message: 'no identifier has a value' })
  expect(fine).toMatchObject({ ok: true, value: { created: true } })
})

it('the same run of a cell, tried twice at once, writes once', async () => {
  const { orgId } = await app.makeOrg()
  const runId = newId()
  const cells = Array.from({ length: 20 }, () => cellOf(runId))
  const tries = [createCellIngest(app.store), createCellIngest(app.store)].map((ingest) =>
    Promise.all(cells.map((cell, n) => ingest(orgId, cell, company(`c${n}.example`, 'Acme')))),
  )
  const [one, other] = await Promise.all(tries)
  expect(other).toEqual(one)
})
