import type { View } from '../../../api/views.ts'
import {
  type Column,
  defaultWidth,
  EMPTY_LAYOUT,
  type Layout,
  orderColumns,
  readRowHeight,
} from '../columns.ts'

type ViewColumn = View['columns'][number]

const keyOf = ({ variable, action_instance_id }: ViewColumn): string =>
  variable === undefined ? (action_instance_id ?? '') : variable.slice(2, -2).trim()

const isShown = ({ path }: ViewColumn): boolean => path !== undefined

/** Returns the layout of the columns that a view keeps. */
export function layoutOfView({ columns: kept, row_height }: Pick<View, 'columns' | 'row_height'>): Layout {
  const columns = kept.filter((column) => !isShown(column))
  const keysWith = (name: 'hidden' | 'frozen') => columns.filter((one) => one[name] === true).map(keyOf)
  return {
    ...EMPTY_LAYOUT,
    order: columns.map(keyOf),
    hidden: keysWith('hidden'),
    frozen: keysWith('frozen'),
    widths: Object.fromEntries(
      columns.flatMap((one) => (one.width === undefined ? [] : [[keyOf(one), one.width]])),
    ),
    rowHeight: readRowHeight(row_height),
  }
}

/** Returns the columns of a layout as a view keeps them. Values of answers that the view shows stay behind their action. */
export function columnsOfLayout(columns: readonly Column[], layout: Layout, view?: Pick<View, 'columns'>) {
  const shown = (view?.columns ?? [])
    .filter(isShown)
    .map(({ type: _type, reference: _reference, ...column }) => column)
  return orderColumns(columns, layout).flatMap((column) => {
    const { key } = column
    const width = layout.widths[key]
    const own = {
      ...(column.kind === 'input' ? { variable: `{{${key}}}` } : { action_instance_id: key }),
      ...(width === undefined ? {} : { width }),
      ...(layout.hidden.includes(key) ? { hidden: true } : {}),
      ...(layout.frozen.includes(key) ? { frozen: true } : {}),
    }
    return [own, ...shown.filter((one) => one.action_instance_id === key)]
  })
}

/** Returns whether two layouts show the columns alike. */
export function isSameLayout(columns: readonly Column[], one: Layout, other: Layout): boolean {
  const describe = (layout: Layout) =>
    JSON.stringify([
      layout.rowHeight,
      orderColumns(columns, layout).map((column) => [
        column.key,
        layout.widths[column.key] ?? defaultWidth(column),
        layout.hidden.includes(column.key),
        layout.frozen.includes(column.key),
      ]),
    ])
  return one === other || describe(one) === describe(other)
}
