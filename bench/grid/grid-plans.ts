import type { CompiledQuery } from 'kysely'
import type { Db, Store } from '#server/database/connection/db.ts'
import { AppError } from '#server/lib/errors.ts'
import { countSettled } from '#server/sheets/store/cell-totals.ts'
import { listCells } from '#server/sheets/store/cells.ts'
import { listMatching } from '#server/sheets/store/matching-rows.ts'
import { listPage } from '#server/sheets/store/rows.ts'
import { explainScans } from '#test/plumbing/explain.ts'

type Plan = { query: string; ms: string; plan: string }

const WINDOW = 40

/**
 * Explains the statements that the grid makes, as the program makes them. Returns the duration of each and
 * what it read.
 */
export async function explainGrid(
  { system }: Store,
  org_id: string,
  sheet_id: string,
  total: number,
): Promise<Plan[]> {
  const sheet = { org_id, sheet_id }
  const { rows } = await listPage(system, sheet, total - WINDOW, WINDOW)
  const ids = rows.map(({ row_id }) => row_id)
  const actions = ['normalize_domain_1', 'split_full_name_1', 'format_data_using_js_expression_1']
  const chosen = { filters: [], statusFilters: [], createdAt: undefined }
  const failed = { action_instance_id: 'format_data_using_js_expression_1', is: ['failed' as const] }
  const cases: [string, (db: Db) => Promise<unknown>][] = [
    ['rows in view, at the end', (db) => listPage(db, sheet, total - WINDOW, WINDOW)],
    ['their cells', (db) => listCells(db, org_id, ids, () => '')],
    ['totals of all columns', (db) => countSettled(db, sheet, actions)],
    [
      'filter: failed',
      (db) => listMatching(db, sheet, { ...chosen, statusFilters: [failed] }, { offset: 0, limit: WINDOW }),
    ],
    [
      'filter: contains',
      (db) =>
        listMatching(
          db,
          sheet,
          { ...chosen, filters: [{ column: 1, operator: 'contains', values: ['site99'] }] },
          { offset: 0, limit: WINDOW },
        ),
    ],
    [
      'find',
      (db) => listMatching(db, sheet, { ...chosen, find: 'number123456' }, { offset: 0, limit: WINDOW }),
    ],
  ]
  const plans: Plan[] = []
  for (const [query, run] of cases) {
    const began = performance.now()
    // A search for a text is aborted after a while, and the user gets a message.
    const refusal = await run(system).then(
      () => '',
      (cause: unknown) => {
        if (cause instanceof AppError) return ' (given up)'
        throw cause
      },
    )
    const ms = `${(performance.now() - began).toFixed(0)}${refusal}`
    plans.push({ query, ms, plan: refusal === '' ? await readPlan(system, run) : '' })
  }
  return plans
}

/** Returns the scans of the first statement that `run` makes, as PostgreSQL plans it. */
async function readPlan(db: Db, run: (db: Db) => Promise<unknown>): Promise<string> {
  let seen: CompiledQuery | undefined
  const spy = db.withPlugin({
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => result,
  })
  const executor = spy.getExecutor()
  const compile = executor.compileQuery.bind(executor)
  executor.compileQuery = (...args) => {
    const compiled = compile(...args)
    seen ??= compiled
    return compiled
  }
  // The statement is known even if it is aborted.
  await run(spy).catch((cause: unknown) => {
    if (!(cause instanceof AppError)) throw cause
  })
  if (seen === undefined) return ''
  return (await explainScans(db, seen)).join('; ')
}
