import type { FieldError } from '#contract/errors.ts'

/** Rows come from a table or from a query, and never from both. */
export function checkTableOrQuery(body: {
  query?: string | undefined
  table?: string | undefined
  schema?: string | undefined
}): FieldError[] {
  const { query, table, schema } = body
  if (query === undefined && table === undefined) return [{ field: 'table', message: 'required, or query' }]
  if (query !== undefined && table !== undefined) {
    return [{ field: 'query', message: 'cannot be combined with table; give one of them' }]
  }
  if (schema !== undefined && table?.includes('.') === true) {
    return [{ field: 'schema', message: 'is in the name of the table already; give it once' }]
  }
  return []
}
