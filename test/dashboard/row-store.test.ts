import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Row, Selection } from '../../dashboard/src/api/sheet.ts'
import { MAX_PAGES } from '../../dashboard/src/screens/sheet/row-pages.ts'
import { RowStore } from '../../dashboard/src/screens/sheet/row-store.ts'

const SHEET = { workflowId: 'w', sheetId: 's' }
const ALL: Selection = { filters: [], status_filters: [], created_at: null, find: '', cause: '' }
const findText = (find: string): Selection => ({ ...ALL, find })

type Body = Record<string, unknown>
type Request = { path: string; body: Body }

/** The number of rows that one call of a text search looks at. */
const ROWS_PER_SEARCH = 1000

/** Serves the requests of a row store from a list of rows. */
function serveRows(count: number) {
  const server = {
    /** Returns the inputs of a row. */
    inputs: (index: number): Record<string, unknown> => ({ name: `name ${index}` }),
    count,
    isReachable: true,
    /** The time that each answer takes. */
    delayMs: 0,
    deleted: new Set<string>(),
    requests: [] as Request[],
    /** Returns the paths of the requests since the last call, without the path of the sheet. */
    takePaths(): string[] {
      return server.requests.splice(0).map(({ path }) => path.slice(path.indexOf('/rows/')))
    },
  }
  const makeRow = (index: number): Row => ({
    row_id: `row-${index}`,
    row_status: 'pending',
    created_at: '2026-01-01T00:00:00Z',
    inputs: server.inputs(index),
    cells: {},
  })
  const between = (from: number, to: number) =>
    Array.from({ length: Math.max(0, Math.min(to, server.count) - from) }, (_, at) => makeRow(from + at))
  const numberOf = (id: unknown) => Number(String(id).replace('row-', ''))
  const pageOf = (rows: Row[]) => ({ rows, total_count: server.count, page_no: 1, page_size: rows.length })
  const answer = (path: string, body: Body): unknown => {
    if (path.endsWith('/rows/window')) {
      return pageOf(between(Number(body['offset']), Number(body['offset']) + Number(body['limit'])))
    }
    if (path.endsWith('/rows/place')) return { place: numberOf(body['row_id']) }
    if (path.endsWith('/rows/find')) {
      const from = Number(body['from'] ?? 0)
      const to = Math.min(from + ROWS_PER_SEARCH, server.count)
      const row_ids = between(from, to).map(({ row_id }) => row_id)
      return { row_ids, looked_at: to, rows: server.count, next: to < server.count ? to : null }
    }
    if (Array.isArray(body['row_ids'])) {
      const ids = body['row_ids'].filter((id) => !server.deleted.has(String(id)))
      return pageOf(ids.map((id) => makeRow(numberOf(id))))
    }
    const size = Number(body['page_size'])
    const from = (Number(body['page_no']) - 1) * size
    return pageOf(between(from, from + size))
  }
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => {
    init.signal?.throwIfAborted()
    const body: Body = JSON.parse(typeof init.body === 'string' ? init.body : '{}')
    server.requests.push({ path, body })
    if (!server.isReachable) throw new TypeError('fetch failed')
    const data = answer(path, body)
    if (server.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, server.delayMs))
    init.signal?.throwIfAborted()
    return Response.json({ status: 200, data })
  })
  return server
}

const stores: RowStore[] = []
function makeStore(selection: Selection = ALL): RowStore {
  const store = new RowStore(SHEET, selection)
  stores.push(store)
  return store
}

/** Lets everything happen that is due within the time. */
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  vi.stubGlobal('requestAnimationFrame', (draw: () => void) => setTimeout(draw, 16))
  vi.stubGlobal('cancelAnimationFrame', (frame: ReturnType<typeof setTimeout>) => clearTimeout(frame))
})
afterEach(() => {
  for (const store of stores.splice(0)) store.close()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

describe('the rows in view', () => {
  it('are loaded by page, once; a jump loads nothing ahead', async () => {
    const server = serveRows(1000)
    const store = makeStore()
    store.show(0, 30)
    store.show(0, 30)
    await pass(0)
    expect(server.requests.map(({ body }) => body)).toEqual([{ page_no: 1, page_size: 100 }])
    expect([store.total, store.count, store.row(0)?.row_id]).toEqual([1000, 1000, 'row-0'])
    store.show(590, 620)
    await pass(0)
    expect(server.requests.slice(1).map(({ body }) => body['page_no'])).toEqual([6, 7])
    expect([store.row(99)?.row_id, store.row(100), store.row(619)?.row_id]).toEqual([
      'row-99',
      undefined,
      'row-619',
    ])
  })

  it('scrolling loads the page ahead, in both directions, but none past the ends', async () => {
    const server = serveRows(300)
    const store = makeStore()
    const pages = () => server.requests.splice(0).map(({ body }) => body['page_no'])
    store.show(0, 30)
    await pass(0)
    store.show(20, 50)
    await pass(0)
    store.show(150, 180)
    await pass(0)
    expect(pages()).toEqual([1, 2, 3])
    store.show(250, 280)
    store.show(20, 50)
    store.show(10, 40)
    await pass(0)
    expect(pages()).toEqual([])
  })

  it('of a million rows only those near the view stay in memory, and a range has all that were asked for', async () => {
    serveRows(1_000_000)
    const store = makeStore()
    store.show(0, 30)
    await pass(0)
    const rows = await store.range(995_000, 999_999)
    expect(rows).toHaveLength(5000)
    expect([rows[0]?.row_id, rows.at(-1)?.row_id]).toEqual(['row-995000', 'row-999999'])
    const many = await store.range(50, 10_049)
    expect(many.map(({ row_id }) => row_id)).toEqual(
      Array.from({ length: 10_000 }, (_, at) => `row-${50 + at}`),
    )
    const kept = Array.from({ length: 10_000 }, (_, page) => page * 100).filter(
      (at) => store.row(at) !== undefined,
    )
    expect(kept).toHaveLength(MAX_PAGES)
    expect(store.row(0)?.row_id).toBe('row-0')
  })

  it('tell a component about its own row only, and only if it has changed', async () => {
    const server = serveRows(100)
    const store = makeStore()
    store.show(0, 30)
    await pass(20)
    const [first, second] = [vi.fn(), vi.fn()]
    store.subscribeRow(0, first)
    const leave = store.subscribeRow(1, second)
    await store.refresh()
    await pass(50)
    expect([first.mock.calls.length, second.mock.calls.length]).toEqual([0, 0])
    server.inputs = (index) => ({ name: index === 1 ? 'new' : `name ${index}` })
    await store.refresh()
    await pass(50)
    expect([first.mock.calls.length, second.mock.calls.length]).toEqual([0, 1])
    leave()
    server.inputs = () => ({})
    await store.refresh()
    await pass(50)
    expect([first.mock.calls.length, second.mock.calls.length]).toEqual([1, 1])
  })
})

describe('reading again', () => {
  it('reads only the rows in view; the rest of their page when it comes into view', async () => {
    const server = serveRows(1000)
    const store = makeStore()
    store.show(0, 30)
    await pass(0)
    server.takePaths()
    await store.refresh()
    expect(server.requests.map(({ body }) => body)).toEqual([{ offset: 0, limit: 30 }])
    expect(server.takePaths()).toEqual(['/rows/window'])
    store.show(5, 35)
    await pass(0)
    expect(server.requests.map(({ body }) => body)).toEqual([{ page_no: 1, page_size: 100 }])
  })

  it('reads whole pages if rows were added, deleted or moved', async () => {
    const server = serveRows(50)
    const store = makeStore()
    store.show(0, 30)
    await pass(0)
    server.takePaths()
    server.count = 51
    await store.refresh()
    expect(server.takePaths()).toEqual(['/rows/window', '/rows/list'])
    expect(store.total).toBe(51)
  })

  it('a change during a read is followed by one more read, however many changes there are', async () => {
    const server = serveRows(50)
    const store = makeStore()
    store.show(0, 30)
    await pass(0)
    server.takePaths()
    server.delayMs = 100
    const reads = [store.refresh(), store.refresh(), store.refresh()]
    server.inputs = () => ({ name: 'late' })
    await pass(500)
    await Promise.all(reads)
    expect(server.takePaths()).toEqual(['/rows/window', '/rows/window'])
    expect(store.row(0)?.inputs).toEqual({ name: 'late' })
  })

  it('live changes leave a slow server three quarters of the time', async () => {
    const server = serveRows(50)
    const store = makeStore()
    store.show(0, 30)
    await pass(0)
    server.takePaths()
    server.delayMs = 100
    void store.refresh()
    await pass(100)
    for (let time = 0; time < 290; time += 10) {
      store.refreshSoon()
      await pass(10)
    }
    expect(server.takePaths()).toHaveLength(1)
    await pass(20)
    expect(server.takePaths()).toHaveLength(1)
  })

  it('a server that cannot be reached is a problem until it answers again', async () => {
    const server = serveRows(50)
    server.isReachable = false
    const store = makeStore()
    const changed = vi.fn()
    store.subscribeCount(changed)
    store.show(0, 30)
    await pass(0)
    expect(store.problem).toMatchObject({ status: 0 })
    expect([store.total, changed.mock.calls.length]).toEqual([null, 1])
    server.isReachable = true
    await pass(1500)
    expect([store.problem, store.total]).toEqual([null, 50])
  })
})

describe('a selection of rows', () => {
  it('has no count until its rows are loaded; the former rows stay in view', async () => {
    const server = serveRows(50)
    const store = makeStore()
    store.show(0, 30)
    await pass(0)
    server.delayMs = 100
    server.count = 20
    store.select({ ...ALL, status_filters: [{ action: 'any', is: ['failed'] }] })
    await pass(50)
    expect([store.count, store.total, store.row(0)?.row_id]).toEqual([null, 50, 'row-0'])
    await pass(100)
    expect([store.count, store.total]).toEqual([20, 20])
    expect(server.requests.at(-1)?.body).toMatchObject({
      status_filters: [{ action: 'any', is: ['failed'] }],
    })
  })

  it('an answer for the former selection is not shown', async () => {
    const server = serveRows(50)
    server.delayMs = 100
    const store = makeStore()
    store.show(0, 30)
    await pass(50)
    server.count = 20
    server.delayMs = 10
    store.select({ ...ALL, status_filters: [{ action: 'any', is: ['failed'] }] })
    await pass(20)
    expect(store.total).toBe(20)
    await pass(100)
    expect([store.total, store.problem]).toEqual([20, null])
  })

  it('a row near the view is located without a request, another by one', async () => {
    const server = serveRows(1000)
    const store = makeStore()
    store.show(0, 30)
    await pass(0)
    server.takePaths()
    expect(await store.locate('row-7')).toBe(7)
    expect(server.takePaths()).toEqual([])
    expect(await store.locate('row-777')).toBe(777)
    expect(server.takePaths()).toEqual(['/rows/place'])
  })
})

describe('a text search', () => {
  it('of a sheet that is searched at once needs one search and then reads like a filter', async () => {
    const server = serveRows(500)
    const store = makeStore(findText('name'))
    store.show(0, 30)
    await pass(0)
    expect(server.requests.map(({ body }) => body)).toEqual([
      { find: 'name' },
      { page_no: 1, page_size: 100, find: 'name' },
    ])
    expect([store.search, store.total]).toEqual([null, 500])
  })

  it('of a long sheet shows rows as they are found, and pauses after 10,000 results', async () => {
    const server = serveRows(25_000)
    const store = makeStore(findText('name'))
    store.show(0, 30)
    await pass(0)
    expect([store.total, store.search?.isPaused, store.search?.lookedAt]).toEqual([10_000, true, 10_000])
    expect(store.row(29)?.row_id).toBe('row-29')
    expect(await store.locate('row-9999')).toBe(9999)
    expect(await store.locate('row-10000')).toBeNull()
    const further = store.search?.searchFurther()
    await pass(0)
    await further
    expect([store.total, store.search?.isPaused]).toEqual([20_000, true])
    expect(server.requests.filter(({ path }) => path.endsWith('/rows/place'))).toEqual([])
  })

  it('a row that was deleted since it was found is no result', async () => {
    const server = serveRows(2500)
    server.deleted.add('row-3')
    const store = makeStore(findText('name'))
    store.show(0, 30)
    await pass(0)
    expect(store.row(3)?.row_id).toBe('row-4')
    expect(store.search?.ids).not.toContain('row-3')
    expect(store.search?.ids).toHaveLength(2499)
  })

  it('another selection ends it', async () => {
    const server = serveRows(25_000)
    server.delayMs = 10
    const store = makeStore(findText('name'))
    store.show(0, 30)
    await pass(15)
    store.select(ALL)
    await pass(100)
    server.takePaths()
    await pass(1000)
    expect([server.takePaths(), store.search, store.total]).toEqual([[], null, 25_000])
  })
})

describe('typed values', () => {
  it('are shown at once, and stay over older answers until they are released', async () => {
    const server = serveRows(50)
    const store = makeStore()
    store.show(0, 30)
    await pass(0)
    const drawn = vi.fn()
    store.subscribeRow(2, drawn)
    const release = store.showTyped([{ row_id: 'row-2', inputs: { name: 'typed' } }])
    expect([drawn.mock.calls.length, store.row(2)?.inputs]).toEqual([1, { name: 'typed' }])
    await store.refresh()
    expect(store.row(2)?.inputs).toEqual({ name: 'typed' })
    release()
    server.inputs = () => ({ name: 'saved' })
    await store.refresh()
    expect(store.row(2)?.inputs).toEqual({ name: 'saved' })
  })
})

it('a closed store asks and tells nothing more', async () => {
  const server = serveRows(1000)
  server.delayMs = 50
  const store = makeStore()
  const told = vi.fn()
  store.subscribeCount(told)
  store.subscribeRow(0, told)
  store.show(0, 30)
  store.refreshSoon()
  store.close()
  server.takePaths()
  await pass(5000)
  expect([server.takePaths(), told.mock.calls.length]).toEqual([[], 0])
})
