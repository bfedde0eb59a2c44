import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { makeApp } from '#test/plumbing/harness.ts'
import { packedCells, unpackCells } from './packed-cells.ts'

const app = await makeApp()
const { orgId } = await app.makeOrg()

type Stored = { action: string; status: string; outputs?: string; error?: string; because?: string }

/** Writes cells of a new row, and returns what is unpacked of them. */
async function roundTrip(cells: readonly Stored[]): Promise<ReturnType<typeof unpackCells>> {
  const row = newId()
  for (const { action, status, outputs = null, error = null, because } of cells) {
    const kept = because === undefined ? null : JSON.stringify({ because })
    await app.store.query({
      text: `insert into cells (org_id, sheet_id, row_id, action, status, outputs, error, kept, run_id, revision, attempts,
          credits_millis, cached, started_at, completed_at)
        values ($1, $1, $2, $3, $4, $5, $6, $7, $1, 1, 1, 0, false, now(), '2026-01-02T03:04:05.678901Z')`,
      values: [orgId, row, action, status, outputs, error, kept],
    })
  }
  const { rows } = await sql<{
    cells: string
  }>`select ${packedCells(orgId, sql`${row}::uuid`)} as cells`.execute(app.store.system)
  const unpacked = unpackCells(rows[0]?.cells ?? '')
  return { ...unpacked, cells: unpacked.cells.toSorted((one, other) => (one.action < other.action ? -1 : 1)) }
}

it('a row without cells', async () => {
  expect(await roundTrip([])).toEqual({ isStopped: false, comments: null, cells: [] })
})

it('texts with the signs that separate fields and cells come back as they were', async () => {
  const text = 'a\u001eb\u001fc + "quoted" \\ é 🎉\n'
  const { isStopped, cells } = await roundTrip([
    { action: 'a_1', status: 'complete', outputs: JSON.stringify({ [text]: text }) },
    { action: 'b_1', status: 'failed', error: text },
    { action: 'c_1', status: 'complete', outputs: '{}', because: 'out_of_credits' },
    { action: 'd_1', status: 'condition_not_met' },
  ])
  expect(isStopped).toBe(false)
  const none = { kept: undefined, error: '', outputs: '', unread: null }
  expect(cells).toEqual([
    { ...none, action: 'a_1', status: 'complete', outputs: expect.any(String) },
    { ...none, action: 'b_1', status: 'failed', error: expect.any(String) },
    { ...none, action: 'c_1', status: 'complete', outputs: '{}', kept: 'out_of_credits' },
    { ...none, action: 'd_1', status: 'condition_not_met' },
  ])
  expect(JSON.parse(cells[0]?.outputs ?? '')).toEqual({ [text]: text })
  expect(JSON.parse(cells[1]?.error ?? '')).toBe(text)
})

it('of large outputs come the size in the database and the time', async () => {
  const { cells } = await roundTrip([
    { action: 'a_1', status: 'complete', outputs: JSON.stringify({ text: 'x'.repeat(100_000) }) },
    { action: 'b_1', status: 'complete', outputs: '{"small": true}' },
  ])
  expect(cells[0]).toMatchObject({ outputs: '', unread: { stored_bytes: expect.any(Number) } })
  expect(cells[0]?.unread?.version).toMatch(/^2026-01-0\d .*05\.678901/)
  expect(cells[1]).toMatchObject({ outputs: '{"small": true}', unread: null })
})

it('the cell in flight replaces its former result, and says that its run was stopped', () => {
  const [field, end] = ['\x1f', '\x1e']
  const former = ['a_1', 'complete', '', '{"value": 1}'].join(field)
  const other = ['b_1', 'complete+skipped', '', '{}'].join(field)
  const flight = (status: string) => ['a_1', status, '', ''].join(field)
  const unpack = (...parts: string[]) => {
    const { isStopped, cells } = unpackCells(parts.join(end))
    return [isStopped, ...cells.map(({ action, status, kept }) => [action, status, kept])]
  }
  const kept = ['b_1', 'complete', 'skipped']
  expect(unpack(former, other, flight('running'))).toEqual([false, kept, ['a_1', 'running', undefined]])
  expect(unpack(former, other, flight('running+stopped'))).toEqual([
    true,
    kept,
    ['a_1', 'running', undefined],
  ])
  expect(unpack('stopped', former, other)).toEqual([true, ['a_1', 'complete', undefined], kept])
})
