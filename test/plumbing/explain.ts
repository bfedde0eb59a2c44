import { CompiledQuery } from 'kysely'
import pg from 'pg'
import type { Db } from '#server/database/connection/db.ts'

export type Plan = { 'Actual Rows': number; 'Shared Hit Blocks': number; 'Shared Read Blocks': number }
type Statement = Pick<CompiledQuery, 'sql' | 'parameters'>

/** Runs a statement and returns the plan of its execution. */
export async function explain(db: Db, statement: Statement): Promise<Plan> {
  const [plan] = await explainPrepared<[{ Plan: Plan }]>(db, 'analyze, buffers, format json', statement)
  if (plan === undefined) throw new Error('explain answered nothing')
  return plan[0].Plan
}

/** Returns the scans in the plan of a statement. */
export async function explainScans(db: Db, statement: Statement): Promise<string[]> {
  const lines = await explainPrepared<string>(db, 'costs off', statement)
  return [...new Set(lines.flatMap((line) => (/Scan/.test(line) ? [line.replace(/^\s*(->)?\s*/, '')] : [])))]
}

/**
 * Explains a prepared statement: `explain` of a statement with parameters always plans for their values,
 * whereas our connections use generic plans.
 */
async function explainPrepared<Line>(
  db: Db,
  options: string,
  { sql, parameters }: Statement,
): Promise<Line[]> {
  const values = parameters.length === 0 ? '' : `(${parameters.map(literal).join(', ')})`
  const explained = async (connection: Db) => {
    const run = <Row>(text: string) => connection.executeQuery<Row>(CompiledQuery.raw(text))
    await run(`prepare explained as ${sql}`)
    try {
      const { rows } = await run<{ 'QUERY PLAN': Line }>(`explain (${options}) execute explained ${values}`)
      return rows.map((row) => row['QUERY PLAN'])
    } finally {
      await run('deallocate explained')
    }
  }
  return db.isTransaction ? explained(db) : db.connection().execute(explained)
}

/** Returns a literal without a type, so that it takes the type of the parameter. */
function literal(value: unknown): string {
  if (value === null) return 'null'
  const plain = (one: unknown) => (typeof one === 'string' ? one : JSON.stringify(one))
  return pg.escapeLiteral(
    Array.isArray(value) ? `{${value.map((one) => JSON.stringify(one)).join(',')}}` : plain(value),
  )
}
