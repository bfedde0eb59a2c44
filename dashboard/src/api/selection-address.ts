import type { RowFilter, Selection, StatusFilter } from './sheet.ts'

/** Which rows an address shows. */
export function readSelection(query: URLSearchParams): Selection {
  return {
    filters: readList<RowFilter>(query.get('filters')),
    status_filters: readList<StatusFilter>(query.get('status_filters')),
    find: query.get('find') ?? '',
  }
}

/** The query of an address that shows these rows; empty for all. */
export function selectionQuery({ filters, status_filters, find }: Selection): string {
  const query = new URLSearchParams({
    ...(filters.length === 0 ? {} : { filters: JSON.stringify(filters) }),
    ...(status_filters.length === 0 ? {} : { status_filters: JSON.stringify(status_filters) }),
    ...(find === '' ? {} : { find }),
  })
  return query.size === 0 ? '' : `?${query}`
}

/** Whoever writes nonsense into the address sees all rows. */
function readList<Item>(text: string | null): Item[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]')
    return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : []
  } catch {
    return []
  }
}
