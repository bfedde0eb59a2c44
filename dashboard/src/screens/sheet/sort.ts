import type { Sort } from '../../api/selection.ts'
import { type PlacedColumn, tokenOf } from './columns.ts'

const MAX_SORTED = 3

export type Direction = 'asc' | 'desc'

/** Returns the token of the value that a column shows, by which rows are sorted, grouped and filtered. */
export function valueToken(column: PlacedColumn): string {
  if (column.kind === 'action' && column.shown !== undefined) return `{{${column.key}.${column.shown}}}`
  return tokenOf(column)
}

/** Returns the direction in which a column is sorted, and its place among the sorted columns; null if it is not sorted. */
export function findSorted(sort: Sort, column: PlacedColumn): { direction: Direction; place: number } | null {
  const token = valueToken(column)
  const place = sort.findIndex((one) => one.variable === token || one.action_instance_id === column.key)
  const found = sort[place]
  return found === undefined ? null : { direction: found.direction, place }
}

/** Returns the sort with a column: alone, or after the columns that are sorted already. */
export function sortBy(
  sort: Sort,
  column: PlacedColumn,
  { direction, isLast = false }: { direction: Direction; isLast?: boolean },
): Sort {
  const token = valueToken(column)
  // An action without a declared output is sorted by its status.
  const by = token === '' ? { action_instance_id: column.key } : { variable: token }
  if (!isLast) return [{ ...by, direction }]
  const others = withoutColumn(sort, column)
  return [...others.slice(0, MAX_SORTED - 1), { ...by, direction }]
}

export function withoutColumn(sort: Sort, column: PlacedColumn): Sort {
  const found = findSorted(sort, column)
  return found === null ? sort : sort.toSpliced(found.place, 1)
}
