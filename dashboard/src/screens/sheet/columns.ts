import type { SheetId } from '../../api/calls.ts'
import type { GraphNode, Input } from '../../api/sheet.ts'

export type InputColumn = {
  kind: 'input'
  key: string
  name: string
  type: Input['type']
  description: string
  choices?: readonly string[] | undefined
}
export type ActionColumn = {
  kind: 'action'
  key: string
  name: string
  node: GraphNode
  outputs: readonly string[]
  /** The output that the column shows; the first that is not blank if none was chosen. */
  shown?: string | undefined
}
export type Column = InputColumn | ActionColumn
export type PlacedColumn = Column & { width: number; frozen: boolean }

export type Layout = {
  widths: Record<string, number>
  frozen: string[]
  hidden: string[]
  /** Column keys in the chosen order. Columns that are not listed follow in their default order. */
  order: string[]
  rowHeight: RowHeight
  /** The output that each column of an action shows, where that was chosen. */
  shown: Record<string, string>
}
/** The height of rows that show three lines of text. */
export const TALL = 64
export const ROW_HEIGHTS = [28, 32, TALL] as const
export type RowHeight = (typeof ROW_HEIGHTS)[number]
/** Returns the row height of a saved layout. `Tall` was 40 before it showed three lines. */
export const readRowHeight = (saved: unknown): RowHeight =>
  saved === 40 ? TALL : (ROW_HEIGHTS.find((height) => height === saved) ?? 32)

export const EMPTY_LAYOUT: Layout = {
  widths: {},
  frozen: [],
  hidden: [],
  order: [],
  rowHeight: 32,
  shown: {},
}
/** Returns the width of the column with checkboxes and row numbers: wide enough for the largest number. */
export function selectWidth(total: number): number {
  return 36 + 7 * Math.max(4, String(total).length)
}
export const MIN_WIDTH = 80
const INPUT_WIDTH = 140
const ACTION_WIDTH = 144

export function defaultWidth(column: Column): number {
  return column.kind === 'action' ? ACTION_WIDTH : INPUT_WIDTH
}

export function buildColumns(inputs: readonly Input[], actions: readonly GraphNode[]): Column[] {
  return [
    ...inputs.map(({ name, type, description, choices }): InputColumn => ({
      kind: 'input',
      key: `input.${name}`,
      name,
      type,
      description,
      choices,
    })),
    ...actions.map((node): ActionColumn => ({
      kind: 'action',
      key: node.action_instance_id,
      name: node.display_name,
      node,
      outputs: (node.outputs ?? []).map(({ name }) => name),
    })),
  ]
}

/** Returns the token of an input, or of the first output of an action. */
export function tokenOf(column: Column): string {
  return column.kind === 'input' ? `{{${column.key}}}` : (column.node.outputs?.[0]?.reference ?? '')
}

/** Returns all columns in the chosen order. */
export function orderColumns(columns: readonly Column[], layout: Layout): Column[] {
  const rank = new Map(layout.order.map((key, place) => [key, place]))
  const findRank = (column: Column, index: number) => rank.get(column.key) ?? layout.order.length + index
  return columns
    .map((column, index) => ({ column, at: findRank(column, index) }))
    .sort((one, other) => one.at - other.at)
    .map(({ column }) => column)
}

/** Returns the visible columns: frozen ones first, then the others in the chosen order. */
export function placeColumns(columns: readonly Column[], layout: Layout): PlacedColumn[] {
  const ordered = orderColumns(columns, layout)
    .filter(({ key }) => !layout.hidden.includes(key))
    .map((column) => ({
      ...column,
      ...(column.kind === 'action' ? { shown: layout.shown[column.key] } : {}),
      width: layout.widths[column.key] ?? defaultWidth(column),
      frozen: layout.frozen.includes(column.key),
    }))
  return [...ordered.filter(({ frozen }) => frozen), ...ordered.filter(({ frozen }) => !frozen)]
}

/** Returns the layout with one column moved to the position of another. */
export function moveColumn(layout: Layout, placed: readonly PlacedColumn[], key: string, to: number): Layout {
  const keys = placed.map((one) => one.key)
  const from = keys.indexOf(key)
  if (from < 0 || to < 0 || to >= keys.length || from === to) return layout
  return { ...layout, order: keys.toSpliced(from, 1).toSpliced(to, 0, key) }
}

/** Returns the key under which this browser stores the layout of a view. The default view has that of its sheet. */
export const layoutKey = ({ sheetId }: SheetId, viewId: string | null) =>
  viewId === null ? sheetId : `${sheetId}.${viewId}`
const storageKey = (key: string) => `loam.layout.${key}`

/** Returns the layout that this browser has stored, or null. */
export function readLayout(key: string): Layout | null {
  const text = localStorage.getItem(storageKey(key))
  if (text === null) return null
  try {
    const kept = JSON.parse(text) as Partial<Layout>
    return { ...EMPTY_LAYOUT, ...kept, rowHeight: readRowHeight(kept.rowHeight) }
  } catch {
    return null
  }
}

/** Stores a layout in this browser; null removes it. */
export function storeLayout(key: string, layout: Layout | null): void {
  if (layout === null) localStorage.removeItem(storageKey(key))
  else localStorage.setItem(storageKey(key), JSON.stringify(layout))
}
