import { describe, expect, it } from 'vitest'
import type { Row } from '../../dashboard/src/api/sheet.ts'
import { MAX_PAGES, PAGE_ROWS, RowPages } from '../../dashboard/src/screens/sheet/row-pages.ts'

const makeRow = (index: number, inputs: Record<string, unknown> = { name: `name ${index}` }): Row => ({
  row_id: `row-${index}`,
  row_status: 'pending',
  created_at: '2026-01-01T00:00:00Z',
  inputs,
  cells: { a_1: { status: 'complete', outputs: { value: index } } },
})

const makePage = (page: number, count = PAGE_ROWS) =>
  Array.from({ length: count }, (_, place) => makeRow(page * PAGE_ROWS + place))

describe('pages of rows', () => {
  it('a row is found by its index and by its id; rows that are not loaded are not', () => {
    const pages = new RowPages()
    pages.store(0, makePage(0), [0])
    pages.store(3, makePage(3, 7), [0])
    expect(pages.row(0)?.row_id).toBe('row-0')
    expect(pages.row(99)?.row_id).toBe('row-99')
    expect(pages.row(100)).toBeUndefined()
    expect(pages.row(306)?.row_id).toBe('row-306')
    expect(pages.row(307)).toBeUndefined()
    expect(pages.indexOf('row-306')).toBe(306)
    expect(pages.indexOf('row-100')).toBeNull()
  })

  it('storing a page names the rows that have changed, been added or removed', () => {
    const pages = new RowPages()
    expect(pages.store(1, makePage(1, 3), [1])).toEqual([100, 101, 102])
    expect(pages.store(1, makePage(1, 3), [1])).toEqual([])
    const changed = makePage(1, 3).with(1, makeRow(101, { name: 'new' }))
    expect(pages.store(1, changed, [1])).toEqual([101])
    expect(pages.store(1, makePage(1, 1), [1])).toEqual([101, 102])
    expect(pages.store(1, [], [1])).toEqual([100])
  })

  it('what has not changed keeps its object, down to the cell', () => {
    const pages = new RowPages()
    pages.store(0, makePage(0, 2), [0])
    const [first, second] = [pages.row(0), pages.row(1)]
    pages.store(0, [makeRow(0), makeRow(1, { name: 'new' })], [0])
    expect(pages.row(0)).toBe(first)
    expect(pages.row(1)).not.toBe(second)
    expect(pages.row(1)?.cells['a_1']).toBe(second?.cells['a_1'])
  })

  it('only a row that is loaded is replaced', () => {
    const pages = new RowPages()
    pages.store(0, makePage(0, 2), [0])
    expect(pages.replace(1, makeRow(1))).toBe(false)
    expect(pages.replace(1, makeRow(1, { name: 'new' }))).toBe(true)
    expect(pages.row(1)?.inputs).toEqual({ name: 'new' })
    expect(pages.replace(2, makeRow(2))).toBe(false)
    expect(pages.replace(5000, makeRow(5000))).toBe(false)
  })

  it('a page is stale from the mark until it is stored again', () => {
    const pages = new RowPages()
    expect(pages.isFresh(0)).toBe(false)
    for (const page of [0, 1, 2]) pages.store(page, makePage(page), [0])
    pages.markStale([1])
    expect([0, 1, 2].map((page) => pages.isFresh(page))).toEqual([false, true, false])
    pages.store(0, makePage(0), [0])
    expect(pages.isFresh(0)).toBe(true)
    pages.markPageStale(0)
    expect(pages.isFresh(0)).toBe(false)
    pages.markPageStale(9)
    expect(pages.has(9)).toBe(false)
  })

  it.each([
    [100, 200, true],
    [90, 210, true],
    [101, 200, false],
    [100, 199, false],
    [0, 100, false],
  ])('a page of which the rows %d to %d were read is fresh: %s', (from, to, isFresh) => {
    const pages = new RowPages()
    pages.store(1, makePage(1), [1])
    pages.markRead(1, from, to)
    expect(pages.isFresh(1)).toBe(isFresh)
  })

  it('the last page is fresh if its few rows were read', () => {
    const pages = new RowPages()
    pages.store(1, makePage(1, 30), [1])
    pages.markRead(1, 100, 130)
    expect(pages.isFresh(1)).toBe(true)
  })

  it('a slice has the rows of the page between two indexes, both included', () => {
    const pages = new RowPages()
    pages.store(1, makePage(1), [1])
    const ids = (from: number, to: number) => pages.slice(1, from, to).map(({ row_id }) => row_id)
    expect(ids(198, 250)).toEqual(['row-198', 'row-199'])
    expect(ids(0, 100)).toEqual(['row-100'])
    expect(ids(150, 150)).toEqual(['row-150'])
    expect(pages.slice(2, 200, 300)).toEqual([])
  })

  it('a walk through a million rows keeps the last pages and those in view', () => {
    const pages = new RowPages()
    const last = 1_000_000 / PAGE_ROWS - 1
    for (let page = 0; page <= last; page += 1) {
      pages.store(page, [makeRow(page * PAGE_ROWS)], [3, page])
    }
    const kept = Array.from({ length: last + 1 }, (_, page) => page).filter((page) => pages.has(page))
    expect(kept).toHaveLength(MAX_PAGES)
    expect(kept).toEqual([3, ...Array.from({ length: MAX_PAGES - 1 }, (_, at) => last - MAX_PAGES + 2 + at)])
    expect(pages.row(999_900)?.row_id).toBe('row-999900')
  })

  it('a page that is read again is not the next to be dropped', () => {
    const pages = new RowPages()
    for (let page = 0; page < MAX_PAGES; page += 1) pages.store(page, [makeRow(page)], [])
    pages.store(0, [makeRow(0)], [])
    pages.store(MAX_PAGES, [makeRow(MAX_PAGES)], [])
    expect([pages.has(0), pages.has(1)]).toEqual([true, false])
  })
})

describe('values that are not saved yet', () => {
  it('are shown over what the server returns, until they are released and read again', () => {
    const pages = new RowPages()
    pages.store(0, [makeRow(0, { name: 'old', size: 1 })], [0])
    const edit = [{ row_id: 'row-0', inputs: { name: 'typed' } }]
    expect(pages.type(edit)).toEqual([0])
    expect(pages.row(0)?.inputs).toEqual({ name: 'typed', size: 1 })
    expect(pages.store(0, [makeRow(0, { name: 'old', size: 2 })], [0])).toEqual([0])
    expect(pages.row(0)?.inputs).toEqual({ name: 'typed', size: 2 })
    pages.release(edit)
    expect(pages.row(0)?.inputs).toEqual({ name: 'typed', size: 2 })
    pages.store(0, [makeRow(0, { name: 'saved', size: 2 })], [0])
    expect(pages.row(0)?.inputs).toEqual({ name: 'saved', size: 2 })
  })

  it('of two edits of one value the later is shown, also when the earlier is saved', () => {
    const pages = new RowPages()
    pages.store(0, [makeRow(0)], [0])
    const [first, second] = ['one', 'two'].map((name) => [{ row_id: 'row-0', inputs: { name } }])
    pages.type(first ?? [])
    pages.type(second ?? [])
    pages.release(first ?? [])
    pages.replace(0, makeRow(0, { name: 'one' }))
    expect(pages.row(0)?.inputs).toEqual({ name: 'two' })
    pages.release(second ?? [])
    pages.release(second ?? [])
    pages.replace(0, makeRow(0, { name: 'two' }))
    expect(pages.row(0)?.inputs).toEqual({ name: 'two' })
  })

  it('are shown when their row is loaded later', () => {
    const pages = new RowPages()
    expect(pages.type([{ row_id: 'row-5', inputs: { name: 'typed' } }])).toEqual([])
    pages.store(0, makePage(0, 6), [0])
    expect(pages.row(5)?.inputs).toEqual({ name: 'typed' })
  })

  it('a value equal to the shown one changes nothing', () => {
    const pages = new RowPages()
    pages.store(0, [makeRow(0)], [0])
    expect(pages.type([{ row_id: 'row-0', inputs: { name: 'name 0' } }])).toEqual([])
  })

  it('the largest edit, of 10,000 rows, changes the rows in memory', () => {
    const pages = new RowPages()
    for (let page = 0; page < MAX_PAGES; page += 1) pages.store(page, makePage(page), [])
    const edits = Array.from({ length: 10_000 }, (_, index) => ({
      row_id: `row-${index}`,
      inputs: { name: 'typed' },
    }))
    expect(pages.type(edits)).toHaveLength(MAX_PAGES * PAGE_ROWS)
    expect(pages.row(5999)?.inputs).toEqual({ name: 'typed' })
    pages.release(edits)
    pages.replace(5999, makeRow(5999))
    expect(pages.row(5999)?.inputs).toEqual({ name: 'name 5999' })
  })
})
