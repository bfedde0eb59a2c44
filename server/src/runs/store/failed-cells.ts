import { type RawBuilder, type SqlBool, sql } from 'kysely'

export const FAILED: readonly string[] = ['failed', 'error', 'out_of_credits']

/** Returns the condition that the cell `c` has one of these statuses, as literals. */
export function isOneOf(statuses: readonly string[]): RawBuilder<SqlBool> {
  return sql`c.status in (${sql.join(statuses.map((status) => sql.lit(status)))})`
}

/**
 * The condition that the cell `c` has failed. It consists of literals, because PostgreSQL uses the index of failed cells only
 * if the statement shows that nothing else is wanted.
 */
export const isFailed: RawBuilder<SqlBool> = isOneOf(FAILED)
