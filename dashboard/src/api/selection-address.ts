import type { CreatedAtFilter } from '#contract/rows.ts'
import type { Sort } from './selection.ts'
import type { RowFilter, Selection, StatusFilter } from './sheet.ts'
import { NO_VIEW, type ViewRows } from './views.ts'

type Query = {
  filters?: string
  status_filters?: string
  created_at?: string
  find?: string
  cause?: string
  sort?: string
  groups?: string
}

/** Returns the selection of rows that is written in the query of an address. What it does not name is as in the view. */
export function readSelection(query: Query, view: ViewRows = NO_VIEW): Selection {
  return {
    filters: query.filters === undefined ? view.filters : readList<RowFilter>(query.filters),
    status_filters:
      query.status_filters === undefined ? view.status_filters : readList<StatusFilter>(query.status_filters),
    created_at:
      query.created_at === undefined
        ? view.created_at
        : (readList<CreatedAtFilter>(`[${query.created_at}]`)[0] ?? null),
    find: query.find ?? '',
    cause: query.cause ?? '',
  }
}

/** Returns the order of rows that is written in the query of an address, or that of the view. */
export const readSort = (query: Query, view: ViewRows = NO_VIEW): Sort =>
  query.sort === undefined ? view.sort : readList<Sort[number]>(query.sort)

/** Returns the groups that are written in the query of an address, or those of the view. */
export const readGroups = (query: Query, view: ViewRows): ViewRows['groups'] =>
  query.groups === undefined ? view.groups : readList<ViewRows['groups'][number]>(query.groups)

/** Returns the query string for a selection of rows and their order, or an empty text for all rows. */
export function selectionQuery(
  { filters, status_filters, created_at, find, cause }: Selection,
  sort: Sort = [],
): string {
  const query = new URLSearchParams({
    ...(filters.length === 0 ? {} : { filters: JSON.stringify(filters) }),
    ...(status_filters.length === 0 ? {} : { status_filters: JSON.stringify(status_filters) }),
    ...(created_at === null ? {} : { created_at: JSON.stringify(created_at) }),
    ...(find === '' ? {} : { find }),
    ...(cause === '' ? {} : { cause }),
    ...(sort.length === 0 ? {} : { sort: JSON.stringify(sort) }),
  })
  return query.size === 0 ? '' : `?${query}`
}

/** Returns the objects of a JSON list. Invalid text gives an empty list, so that a wrong address shows all rows. */
function readList<Item>(text: string | undefined): Item[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : []
  } catch {
    return []
  }
}
