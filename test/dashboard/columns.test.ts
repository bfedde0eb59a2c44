import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { GraphNode, Input } from '../../dashboard/src/api/sheet.ts'
import {
  buildColumns,
  EMPTY_LAYOUT,
  type Layout,
  moveColumn,
  placeColumns,
  layoutKey,
  readLayout,
  selectWidth,
  storeLayout,
} from '../../dashboard/src/screens/sheet/columns.ts'

const makeInput = (name: string): Input => ({
  name,
  type: 'string',
  description: '',
  reference: `{{input.${name}}}`,
})
const makeAction = (id: string): GraphNode => ({
  action_instance_id: id,
  action_id: 'format',
  display_name: `Action ${id}`,
  next: [],
})

const COLUMNS = buildColumns([makeInput('a'), makeInput('b')], [makeAction('x_1'), makeAction('x_2')])
const KEYS = ['input.a', 'input.b', 'x_1', 'x_2']
const place = (layout: Partial<Layout>) => placeColumns(COLUMNS, { ...EMPTY_LAYOUT, ...layout })
const keysOf = (columns: readonly { key: string }[]) => columns.map(({ key }) => key)

describe('the columns of a sheet', () => {
  it('are its inputs, then its actions in the order of the chain', () => {
    expect(keysOf(COLUMNS)).toEqual(KEYS)
    expect(COLUMNS.map(({ name }) => name)).toEqual(['a', 'b', 'Action x_1', 'Action x_2'])
  })

  it('an input and an action of the same name are two columns', () => {
    const columns = buildColumns([makeInput('x_1')], [makeAction('x_1')])
    expect(new Set(keysOf(columns)).size).toBe(2)
  })

  it('an action names its outputs in their order, or none', () => {
    const outputs = ['first', 'second'].map((name) => ({ name, type: 'string' as const, reference: '' }))
    const [with_, without] = buildColumns([], [{ ...makeAction('x_1'), outputs }, makeAction('x_2')])
    expect(with_).toMatchObject({ outputs: ['first', 'second'] })
    expect(without).toMatchObject({ outputs: [] })
  })
})

describe('the placed columns', () => {
  it.each<[string, Partial<Layout>, string[]]>([
    ['without a layout: all, in their order', {}, KEYS],
    ['in the chosen order', { order: ['x_2', 'x_1', 'input.b', 'input.a'] }, KEYS.toReversed()],
    ['those that the order does not name follow', { order: ['x_2'] }, ['x_2', 'input.a', 'input.b', 'x_1']],
    [
      'an order may name columns that are gone',
      { order: ['gone', 'x_1'] },
      ['x_1', 'input.a', 'input.b', 'x_2'],
    ],
    ['without those that are hidden', { hidden: ['input.a', 'x_2', 'gone'] }, ['input.b', 'x_1']],
    ['frozen ones first', { frozen: ['x_1'] }, ['x_1', 'input.a', 'input.b', 'x_2']],
    [
      'frozen ones in the chosen order too',
      { frozen: ['input.a', 'x_2'], order: ['x_2', 'input.b', 'input.a'] },
      ['x_2', 'input.a', 'input.b', 'x_1'],
    ],
    [
      'a hidden column is not shown for being frozen',
      { frozen: ['x_1'], hidden: ['x_1'] },
      ['input.a', 'input.b', 'x_2'],
    ],
    ['none if all are hidden', { hidden: KEYS }, []],
  ])('are %s', (_, layout, expected) => {
    expect(keysOf(place(layout))).toEqual(expected)
  })

  it('have their own widths, or the default of their kind', () => {
    expect(place({ widths: { 'input.a': 300, x_2: 80 } }).map(({ width }) => width)).toEqual([
      300, 140, 144, 80,
    ])
  })

  it('the largest sheet, of 500 inputs and 500 actions in reverse order, keeps every column', () => {
    const many = Array.from({ length: 500 }, (_, at) => String(at))
    const columns = buildColumns(many.map(makeInput), many.map(makeAction))
    const order = keysOf(columns).toReversed()
    expect(keysOf(placeColumns(columns, { ...EMPTY_LAYOUT, order }))).toEqual(order)
  })
})

describe('moving a column', () => {
  const move = (key: string, to: number) => moveColumn(EMPTY_LAYOUT, place({}), key, to).order

  it.each<[string, number, string[]]>([
    ['input.a', 3, ['input.b', 'x_1', 'x_2', 'input.a']],
    ['x_2', 0, ['x_2', 'input.a', 'input.b', 'x_1']],
    ['input.b', 2, ['input.a', 'x_1', 'input.b', 'x_2']],
  ])('%s to %d', (key, to, expected) => {
    expect(move(key, to)).toEqual(expected)
  })

  it.each<[string, number]>([
    ['input.a', -1],
    ['x_2', 4],
    ['x_1', 2],
    ['gone', 0],
  ])('%s to %d changes nothing', (key, to) => {
    expect(moveColumn(EMPTY_LAYOUT, place({}), key, to)).toBe(EMPTY_LAYOUT)
  })

  it('moves among the visible columns, and keeps the rest of the layout', () => {
    const layout: Layout = { ...EMPTY_LAYOUT, hidden: ['input.b'], widths: { x_1: 200 } }
    const moved = moveColumn(layout, placeColumns(COLUMNS, layout), 'x_2', 0)
    expect(keysOf(placeColumns(COLUMNS, moved))).toEqual(['x_2', 'input.a', 'x_1'])
    expect(moved.widths).toEqual({ x_1: 200 })
  })
})

it.each([
  [0, 64],
  [9999, 64],
  [10_000, 71],
  [1_000_000, 85],
])('the column of row numbers of %d rows is %d px wide', (total, width) => {
  expect(selectWidth(total)).toBe(width)
})

describe('the layout in the browser', () => {
  const SHEET = { workflowId: 'w', sheetId: 's' }
  const KEY = layoutKey(SHEET, null)
  const stored = new Map<string, string>()

  beforeEach(() =>
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => stored.set(key, value),
    }),
  )
  afterEach(() => {
    vi.unstubAllGlobals()
    stored.clear()
  })

  it('is read as it was stored, for its sheet only', () => {
    const layout: Layout = { ...EMPTY_LAYOUT, order: ['x_1'], rowHeight: 64 }
    storeLayout(KEY, layout)
    expect(readLayout(KEY)).toEqual(layout)
    const other = { ...SHEET, sheetId: 't' }
    expect(readLayout(layoutKey(other, null))).toBe(null)
    expect(readLayout(layoutKey(SHEET, 'v'))).toBe(null)
  })

  it('of an earlier version gets the defaults for what it lacks; a broken one is the default', () => {
    stored.set('loam.layout.s', '{"hidden":["x_1"]}')
    expect(readLayout(KEY)).toEqual({ ...EMPTY_LAYOUT, hidden: ['x_1'] })
    stored.set('loam.layout.s', '{"hidden":')
    expect(readLayout(KEY)).toBe(null)
  })
})
