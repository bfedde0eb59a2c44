import type { FieldError } from '#contract/errors.ts'

/** Checks that rows come from either a table or a query. */
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
    return [{ field: 'schema', message: 'is already part of the table name; give it once' }]
  }
  return []
}
