import type { ColumnFields, Sort } from '#contract/columns.ts'
import type { CreatedAtFilter, RowFilter, StatusFilter } from '#contract/rows.ts'
import type { ViewSettings } from '#contract/views.ts'
import type { ChainView } from '../../catalog/configuration/chain-view.ts'
import type { Selection, SheetColumn, SortKey, ValueFilter } from '../../database/tables/selection.ts'
import { comparedAs, findValue } from './value-sources.ts'

export type SelectionBody = {
  filters?: RowFilter[] | undefined
  status_filters?: StatusFilter[] | undefined
  created_at?: CreatedAtFilter | undefined
  find?: string | undefined
  cause?: string | undefined
  view_id?: string | undefined
}

/** Returns the selection of a body. Names that the sheet does not have are left out: findUnknownNames reports them. */
export function toSelection(body: SelectionBody, chain: ChainView): Selection {
  const filters = (body.filters ?? []).flatMap((filter) => toValueFilter(filter, chain))
  const { status_filters: statusFilters = [], created_at: createdAt, find, cause } = body
  return { filters, statusFilters, createdAt, find, cause }
}

/** Returns the rows of a view among those of a selection. */
export function withinView(selection: Selection, settings: ViewSettings, chain: ChainView): Selection {
  const { created_at, ...others } = settings
  const seen = toSelection(others, chain)
  return {
    ...selection,
    filters: [...seen.filters, ...selection.filters],
    statusFilters: [...seen.statusFilters, ...selection.statusFilters],
    ...(created_at === undefined || created_at === null ? {} : { createdAlso: created_at }),
  }
}

export function toSortKeys(sort: Sort, chain: ChainView): SortKey[] {
  return sort.flatMap(({ direction, ...column }): SortKey[] => {
    const found = findColumn(column, chain)
    return found === undefined ? [] : [{ column: found, direction }]
  })
}

function toValueFilter({ variable, ...filter }: RowFilter, chain: ChainView): ValueFilter[] {
  const value = findValue(variable, chain)
  if (value === undefined) return []
  const kind = comparedAs(value)
  return [{ ...filter, ...value.source, ...(kind === undefined ? {} : { kind }) }]
}

/** Finds a column of the sheet. Returns undefined if the sheet does not have it. */
export function findColumn(column: ColumnFields, chain: ChainView): SheetColumn | undefined {
  const { variable, action_instance_id, field } = column
  if (variable !== undefined) return findValue(variable, chain)?.source
  if (field !== undefined) return { field }
  const isThere = chain.definition.actions.some(({ id }) => id === action_instance_id)
  return isThere && action_instance_id !== undefined ? { statusOf: action_instance_id } : undefined
}

export function isEmptySelection({ filters, statusFilters, ...rest }: Selection): boolean {
  const isOpen = Object.values(rest).every((part) => part === undefined)
  return isOpen && filters.length === 0 && statusFilters.length === 0
}
