import type { GraphNode, Input, SheetId } from '../../api/sheet.ts'

export type InputColumn = {
  kind: 'input'
  key: string
  name: string
  type: Input['type']
  description: string
}
export type ActionColumn = {
  kind: 'action'
  key: string
  name: string
  node: GraphNode
  outputs: readonly string[]
}
export type Column = InputColumn | ActionColumn
export type PlacedColumn = Column & { width: number; frozen: boolean }

export type Layout = {
  widths: Record<string, number>
  frozen: string[]
  hidden: string[]
  /** Keys in the order wished; those that it does not name stand in their own. */
  order: string[]
  rowHeight: RowHeight
}
export const ROW_HEIGHTS = [28, 32, 40] as const
export type RowHeight = (typeof ROW_HEIGHTS)[number]

export const EMPTY_LAYOUT: Layout = { widths: {}, frozen: [], hidden: [], order: [], rowHeight: 32 }
/** Of the column that selects and numbers rows: wide enough for the largest number. */
export function selectWidth(total: number): number {
  return 36 + 7 * Math.max(4, String(total).length)
}
export const MIN_WIDTH = 80
const INPUT_WIDTH = 140
const ACTION_WIDTH = 144

function usualWidth(column: Column): number {
  return column.kind === 'action' ? ACTION_WIDTH : INPUT_WIDTH
}

export function columnsOf(inputs: readonly Input[], actions: readonly GraphNode[]): Column[] {
  return [
    ...inputs.map(({ name, type, description }): InputColumn => ({
      kind: 'input',
      key: `input.${name}`,
      name,
      type,
      description,
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

/** Those that are seen: frozen ones first, then in the order wished. */
export function placeColumns(columns: readonly Column[], layout: Layout): PlacedColumn[] {
  const rank = new Map(layout.order.map((key, place) => [key, place]))
  const placeOf = (column: Column, own: number) => rank.get(column.key) ?? layout.order.length + own
  const ordered = columns
    .map((column, own) => ({ column, at: placeOf(column, own) }))
    .sort((one, other) => one.at - other.at)
    .map(({ column }) => column)
    .filter(({ key }) => !layout.hidden.includes(key))
    .map((column) => ({
      ...column,
      width: layout.widths[column.key] ?? usualWidth(column),
      frozen: layout.frozen.includes(column.key),
    }))
  return [...ordered.filter(({ frozen }) => frozen), ...ordered.filter(({ frozen }) => !frozen)]
}

/** The layout with one column put where another stands. */
export function moveColumn(layout: Layout, placed: readonly PlacedColumn[], key: string, to: number): Layout {
  const keys = placed.map((one) => one.key)
  const from = keys.indexOf(key)
  if (from < 0 || to < 0 || to >= keys.length || from === to) return layout
  return { ...layout, order: keys.toSpliced(from, 1).toSpliced(to, 0, key) }
}

const keyOf = ({ sheetId }: SheetId) => `loam.layout.${sheetId}`

/** Whether this browser has a layout of its own for the sheet. */
export const hasLayout = (sheet: SheetId): boolean => localStorage.getItem(keyOf(sheet)) !== null

export function readLayout(sheet: SheetId): Layout {
  try {
    return { ...EMPTY_LAYOUT, ...(JSON.parse(localStorage.getItem(keyOf(sheet)) ?? '{}') as Partial<Layout>) }
  } catch {
    return EMPTY_LAYOUT
  }
}

export function keepLayout(sheet: SheetId, layout: Layout): void {
  localStorage.setItem(keyOf(sheet), JSON.stringify(layout))
}
