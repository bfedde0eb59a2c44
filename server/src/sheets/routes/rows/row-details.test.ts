import { describe, expect, it } from 'vitest'
import { signIn } from '#server/api/testing/session.ts'
import { done, failed } from '#server/catalog/outcome.ts'
import { catalogueOf } from '#test/builders/catalogue.ts'
import { makePaidSheet, paidAction } from '#test/builders/paid-action.ts'
import { rowsOf } from '#test/builders/rows.ts'
import { type Json, makeApp } from '#test/plumbing/harness.ts'
import { settledRows, startTestWorker } from '#test/plumbing/worker.ts'

const paid = paidAction((text) => (text === 'bad' ? failed('no such thing') : done({ value: text })))
const app = await makeApp({ services: { catalogue: catalogueOf(paid) } })
await startTestWorker(app)
const org = await app.makeOrg()
const { makeSheet, addRows, list } = rowsOf(org)
const session = await signIn(app, org.orgId, 'editor@example.com')

async function get(path: string): Promise<Json> {
  const answer = await org.call('GET', path)
  expect([answer.status, answer.body.message]).toEqual([200, undefined])
  return answer.body.data
}

const UNKNOWN = '01890000-0000-7000-8000-000000000001'

describe('G8 Row page', () => {
  it('a row is as List Rows has it, with cells as D67 and its neighbours', async () => {
    const base = await makePaidSheet(org)
    const ids = await addRows(base, [{ x: 'a' }, { x: 'bad' }, { x: 'c' }])
    await org.call('POST', `${base}/run-all`)
    await settledRows(org, base)
    await org.call('POST', `${base}/rows/delete`, { row_ids: [ids[1]] })
    const [, more] = await addRows(base, [{ x: 'd' }, { x: 'e' }])
    const first = await get(`${base}/rows/${ids[0]}`)
    const [listed] = (await list(base)).rows
    const { cells, previous_row_id, next_row_id, ...row } = first
    const { cells: listedCells, ...listedRow } = listed
    expect(row).toEqual(listedRow)
    expect([previous_row_id, next_row_id]).toEqual([null, ids[2]])
    expect(cells.paid_1).toMatchObject(listedCells.paid_1)
    expect(cells.paid_1).toEqual(await get(`${base}/rows/${ids[0]}/cells/paid_1`))
    expect(cells.paid_1.provenance.credits).toBe(2)
    const last = await get(`${base}/rows/${more}`)
    expect([last.next_row_id, last.cells]).toEqual([null, {}])
    for (const path of [ids[1], UNKNOWN]) {
      expect((await org.call('GET', `${base}/rows/${path}`)).status).toBe(404)
      expect((await org.call('GET', `${base}/rows/${path}/history`)).status).toBe(404)
    }
    expect((await org.call('GET', `${base}/rows/x`)).status).toBe(400)
  })

  it('`order_id`: the neighbours are those of an order, without rows deleted since', async () => {
    const base = await makeSheet(['n'])
    const ids = await addRows(
      base,
      [3, 1, 2, 5, 4].map((n) => ({ n })),
    )
    const page = await list(base, { sort: [{ variable: '{{input.n}}' }] })
    const order = page.rows.map((row: Json) => row.row_id)
    const gone = order[2]
    await org.call('POST', `${base}/rows/delete`, { row_ids: [gone] })
    const living = order.filter((id: string) => id !== gone)
    for (const [n, id] of living.entries()) {
      const row = await get(`${base}/rows/${id}?order_id=${page.order_id}`)
      expect([row.previous_row_id, row.next_row_id]).toEqual([living[n - 1] ?? null, living[n + 1] ?? null])
    }
    const answer = await org.call('GET', `${base}/rows/${ids[0]}?order_id=${UNKNOWN}`)
    expect([answer.status, answer.body.error]).toEqual([410, 'ORDER_EXPIRED'])
  })

  it('`view_id`: the neighbours are those of a view, in its order', async () => {
    const base = await makeSheet(['n', 'kind'])
    const ids = await addRows(
      base,
      [3, 1, 2, 5, 4].map((n) => ({ n, kind: n === 5 ? 'x' : 'y' })),
    )
    const filters = [{ variable: '{{input.kind}}', operator: 'is equal to', values: ['y'] }]
    const sort = [{ variable: '{{input.n}}', direction: 'desc' }]
    for (const [settings, places] of [
      [{ filters }, [0, 1, 2, 4]],
      [{ filters, sort }, [4, 0, 2, 1]],
      [{ sort }, [3, 4, 0, 2, 1]],
    ] as const) {
      const made = await org.call('POST', `${base}/views`, { name: 'View', ...settings })
      const { view_id } = made.body.data
      for (const [n, place] of places.entries()) {
        const row = await get(`${base}/rows/${ids[place]}?view_id=${view_id}`)
        const near = [places[n - 1], places[n + 1]].map((one) => (one === undefined ? null : ids[one]))
        expect([row.previous_row_id, row.next_row_id]).toEqual(near)
      }
      if (!('filters' in settings)) continue
      const outside = await get(`${base}/rows/${ids[3]}?view_id=${view_id}`)
      expect([outside.previous_row_id, outside.next_row_id]).toEqual([null, null])
      const by = [{ variable: '{{input.kind}}' }]
      const groups = await org.call('POST', `${base}/rows/groups`, { by, view_id })
      expect(groups.body.data).toMatchObject({ total_count: 4, groups: [{ selection: { view_id } }] })
    }
    for (const [query, field] of [
      [`view_id=${UNKNOWN}`, 'view_id'],
      [`view_id=${UNKNOWN}&order_id=${UNKNOWN}`, 'view_id'],
    ]) {
      const answer = await org.call('GET', `${base}/rows/${ids[0]}?${query}`)
      expect([answer.status, answer.body.errors?.[0].field]).toEqual([400, field])
    }
  })

  it('history: who added the row, what was edited and undone, and its runs, newest first', async () => {
    const base = await makePaidSheet(org, { inputs: ['x', 'y'] })
    const [id] = await addRows(base, [{ x: 'a', y: 'keep' }])
    const other = await org.keyFor('second@example.com', 'admin')
    const added = await app.call(other, 'POST', `${base}/rows`, { rows: [{ x: 'b' }] })
    const [second] = added.body.data.row_ids
    const sheet = base
    const rows = [{ row_id: id, inputs: { x: 'b', y: 'keep' } }]
    const edited = await session.call('PATCH', `${sheet}/rows`, { rows })
    expect(edited.status).toBe(200)
    const ran = await org.call('POST', `${base}/run`, { row_ids: [id] })
    await settledRows(org, base)
    await session.call('POST', `${sheet}/edits/${edited.body.data.edit_id}/undo`)
    const { entries, next_cursor } = await get(`${base}/rows/${id}/history`)
    expect(next_cursor).toBeNull()
    expect(entries.map(({ at: _at, ...entry }: Json) => entry)).toEqual([
      { kind: 'edited', by: 'editor@example.com', changes: [{ input: 'x', before: 'b', after: 'a' }] },
      { kind: 'run', by: org.adminEmail, run_id: ran.headers['x-run-id'], credits: 2 },
      { kind: 'edited', by: 'editor@example.com', changes: [{ input: 'x', before: 'a', after: 'b' }] },
      { kind: 'added', by: org.adminEmail },
    ])
    const times = entries.map(({ at }: Json) => at)
    expect(times).toEqual(times.toSorted().toReversed())
    expect((await get(`${base}/rows/${second}/history`)).entries).toMatchObject([
      { kind: 'added', by: 'second@example.com' },
    ])
    const seen: Json[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Json = await get(
        `${base}/rows/${id}/history?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      expect(page.entries).toHaveLength(1)
      seen.push(...page.entries)
      cursor = page.next_cursor
    }
    expect(seen).toEqual(entries)
    for (const query of ['limit=0', 'limit=201', 'cursor=x', `cursor=${'9'.repeat(40)}.x`]) {
      expect((await org.call('GET', `${base}/rows/${id}/history?${query}`)).status).toBe(400)
    }
  })

  it('history is deleted with its row, and comes back with it; long values are cut', async () => {
    const base = await makeSheet(['v'])
    const [id] = await addRows(base, [{ v: 'a' }])
    const sheet = base
    await session.call('PATCH', `${sheet}/rows`, { rows: [{ row_id: id, inputs: { v: 'x'.repeat(5000) } }] })
    const [edit] = (await get(`${base}/rows/${id}/history`)).entries
    expect(edit.changes).toEqual([{ input: 'v', before: 'a', after: `${'x'.repeat(500)}…` }])
    const count = async () => {
      const rows = await app.store.query<{ count: number }>({
        text: 'select count(*)::int as count from row_changes where row_id = $1',
        values: [id],
      })
      return rows[0]?.count
    }
    expect((await session.call('POST', `${sheet}/rows/delete`, { row_ids: [id] })).status).toBe(200)
    expect(await count()).toBe(0)
    expect((await session.call('POST', `${sheet}/rows/restore`, { row_ids: [id] })).status).toBe(200)
    expect((await get(`${base}/rows/${id}/history`)).entries[0]).toEqual(edit)
    await org.call('POST', `${base}/rows/delete`, { row_ids: [id] })
    expect(await count()).toBe(0)
  })
})
