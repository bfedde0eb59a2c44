import { CompiledQuery } from 'kysely'
import pg from 'pg'
import type { Db } from '#server/database/connection/db.ts'

export type Plan = { 'Actual Rows': number; 'Shared Hit Blocks': number; 'Shared Read Blocks': number }
type Statement = Pick<CompiledQuery, 'sql' | 'parameters'>

/** Runs a statement and answers the plan by which it ran. */
export async function explain(db: Db, statement: Statement): Promise<Plan> {
  const [plan] = await explainPrepared<[{ Plan: Plan }]>(db, 'analyze, buffers, format json', statement)
  if (plan === undefined) throw new Error('explain answered nothing')
  return plan[0].Plan
}

/** The scans of a statement, as it is planned. */
export async function explainScans(db: Db, statement: Statement): Promise<string[]> {
  const lines = await explainPrepared<string>(db, 'costs off', statement)
  return [...new Set(lines.flatMap((line) => (/Scan/.test(line) ? [line.replace(/^\s*(->)?\s*/, '')] : [])))]
}

/**
 * Prepared first: `explain` of a statement with parameters always plans for these, in contrast to our connections, which plan for
 * any.
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

/** Of no type yet, so that it takes the parameter's. */
function literal(value: unknown): string {
  if (value === null) return 'null'
  const plain = (one: unknown) => (typeof one === 'string' ? one : JSON.stringify(one))
  return pg.escapeLiteral(
    Array.isArray(value) ? `{${value.map((one) => JSON.stringify(one)).join(',')}}` : plain(value),
  )
}
