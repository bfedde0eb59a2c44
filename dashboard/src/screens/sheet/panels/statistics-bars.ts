import type { ColumnStatistics } from '#contract/row-statistics.ts'
import type { RowFilter, Selection } from '../../../api/sheet.ts'
import { figure } from '../../../ui/figure.ts'
import { STATE_NAMES } from '../cell-text.ts'
import { CELL_STATUSES, type CellStatus } from '../filter-words.ts'

/** One bar: its label, the rows that it counts, and the filters that find them; null if no filter does. */
export type StatisticsBar = { label: string; count: number; filters: RowFilter[] | null }

/** The length at which the server cuts the most frequent values. */
const MAX_VALUE = 1000

export function valueBars({ most_frequent }: ColumnStatistics, variable: string): StatisticsBar[] {
  return most_frequent.map(({ value, count }) => ({
    label: value,
    count,
    filters:
      value.length < MAX_VALUE
        ? [{ variable, operator: 'is equal to', values: [value] }]
        : [{ variable, operator: 'starts with', values: [value.slice(0, MAX_VALUE - 1)] }],
  }))
}

/** Returns the bars of a histogram of numbers. Each bar but the last ends before the next one begins. */
export function numberBars({ numbers }: ColumnStatistics, variable: string): StatisticsBar[] {
  const bars = numbers?.histogram ?? []
  return bars.map(({ from, to, count }, place) => ({
    label: from === to ? figure(from) : `${figure(from)} to ${figure(to)}`,
    count,
    filters: [
      { variable, operator: 'greater than or equal to', values: [String(from)] },
      {
        variable,
        operator: place === bars.length - 1 ? 'less than or equal to' : 'less than',
        values: [String(to)],
      },
    ],
  }))
}

export function dateBars({ dates }: ColumnStatistics, variable: string): StatisticsBar[] {
  return (dates?.histogram ?? []).map(({ from, to, count }) => ({
    label: from === to ? dayOf(from) : `${dayOf(from)} to ${dayOf(to)}`,
    count,
    filters: [{ variable, operator: 'is between', values: [from, to] }],
  }))
}

const dayOf = (instant: string) => instant.slice(0, 10)

type StatusBar = { label: string; count: number; status: CellStatus | null }

/** Returns the statuses that occur, in the order of their lifecycle, and the rows that were not run. */
export function statusBars({ action }: ColumnStatistics): StatusBar[] {
  if (action === null) return []
  const bars = CELL_STATUSES.map((status) => ({
    label: STATE_NAMES[status],
    count: action.statuses[status] ?? 0,
    status,
  }))
  return [...bars, { label: STATE_NAMES.not_run, count: action.not_run, status: null }].filter(
    ({ count }) => count > 0,
  )
}

/** Tells whether a selection has all the given filters. */
export function hasFilters(selection: Selection, filters: readonly RowFilter[]): boolean {
  const known = new Set(selection.filters.map((filter) => JSON.stringify(filter)))
  return filters.every((filter) => known.has(JSON.stringify(filter)))
}

/** Returns the selection with the given filters, or without them if it has them. */
export function toggleFilters(selection: Selection, filters: readonly RowFilter[]): Selection {
  const texts = new Set(filters.map((filter) => JSON.stringify(filter)))
  const others = selection.filters.filter((filter) => !texts.has(JSON.stringify(filter)))
  return { ...selection, filters: hasFilters(selection, filters) ? others : [...others, ...filters] }
}

const isOnly = (statuses: readonly CellStatus[] | undefined, status: CellStatus) =>
  statuses?.length === 1 && statuses[0] === status

export function hasStatus(selection: Selection, action: string, status: CellStatus): boolean {
  return selection.status_filters.some(
    ({ action_instance_id, is }) => action_instance_id === action && isOnly(is, status),
  )
}

/** Returns the selection with a status of an action, or without it if it has it. */
export function toggleStatus(selection: Selection, action: string, status: CellStatus): Selection {
  const { status_filters } = selection
  return {
    ...selection,
    status_filters: hasStatus(selection, action, status)
      ? status_filters.filter(
          ({ action_instance_id, is }) => action_instance_id !== action || !isOnly(is, status),
        )
      : [...status_filters, { action_instance_id: action, is: [status] }],
  }
}
