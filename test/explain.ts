import { CompiledQuery, type RawBuilder } from 'kysely'
import pg from 'pg'
import type { Db } from '#server/store/connection/db.ts'

export type Plan = { 'Actual Rows': number; 'Shared Hit Blocks': number; 'Shared Read Blocks': number }

/**
 * Runs a statement and answers the plan by which it ran. Prepared first: `explain` of a statement with parameters always plans for
 * these, in contrast to our connections, which plan for any. Call it in a transaction.
 */
export async function explain(trx: Db, query: RawBuilder<unknown>): Promise<Plan> {
  const { sql: text, parameters } = query.compile(trx)
  const values = parameters.map(literal).join(', ')
  await trx.executeQuery(CompiledQuery.raw(`prepare explained as ${text}`))
  const { rows } = await trx.executeQuery<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    CompiledQuery.raw(`explain (analyze, buffers, format json) execute explained (${values})`),
  )
  await trx.executeQuery(CompiledQuery.raw('deallocate explained'))
  const [first] = rows
  if (first === undefined) throw new Error('explain answered nothing')
  return first['QUERY PLAN'][0].Plan
}

/** Of no type yet, so that it takes the parameter's. */
function literal(value: unknown): string {
  if (value === null) return 'null'
  return pg.escapeLiteral(
    Array.isArray(value) ? `{${value.map((one) => JSON.stringify(one)).join(',')}}` : String(value),
  )
}
