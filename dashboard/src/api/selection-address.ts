import type { Sort } from './selection.ts'
import type { RowFilter, Selection, StatusFilter } from './sheet.ts'

/** Returns the selection of rows that is written in the query of an address. */
export function readSelection(query: {
  filters?: string
  status_filters?: string
  find?: string
  cause?: string
}): Selection {
  return {
    filters: readList<RowFilter>(query.filters),
    status_filters: readList<StatusFilter>(query.status_filters),
    find: query.find ?? '',
    cause: query.cause ?? '',
  }
}

/** Returns the order of rows that is written in the query of an address. */
export const readSort = (query: { sort?: string }): Sort => readList<Sort[number]>(query.sort)

/** Returns the query string for a selection of rows and their order, or an empty text for all rows. */
export function selectionQuery({ filters, status_filters, find, cause }: Selection, sort: Sort = []): string {
  const query = new URLSearchParams({
    ...(filters.length === 0 ? {} : { filters: JSON.stringify(filters) }),
    ...(status_filters.length === 0 ? {} : { status_filters: JSON.stringify(status_filters) }),
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
