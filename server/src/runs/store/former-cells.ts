import { type RawBuilder, sql } from 'kysely'
import { announcing } from '../../database/connection/changes.ts'
import type { Db } from '../../database/connection/db.ts'
import { exclusiveRowsLock } from '../../database/connection/locks.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'

// A run that runs cells again moves their results to former_cells. Cells that then end without a result of their own
// get the former one back, in the statement that ends them. The results of all others can be restored for a week (D84).

const RESULT = [
  'status',
  'outputs',
  'error',
  'revision',
  'attempts',
  'credits_millis',
  'cached',
  'provenance',
  'learns',
  'billing',
  'started_at',
  'completed_at',
]
const CELL = ['org_id', 'sheet_id', 'row_id', 'action', 'run_id', ...RESULT]
const results = sql.raw(RESULT.join(', '))
const columnsOf = (table: string, columns: readonly string[]) =>
  columns.map((column) => `${table}.${column}`).join(', ')

export const CELL_COLUMNS = CELL.join(', ')

/** Columns of the record `k` of former_cells, as those of a cell. */
export const FORMER_AS_CELL = columnsOf('k', CELL)
/** The same for the current cell of the run `k.by_run`: the run goes on after it, or is resumed at it. */
export const FORMER_AS_CURRENT = FORMER_AS_CELL.replace('k.run_id', 'k.by_run')

/** Returns the SQL of `kept`: the reason, the run that kept the result, and the run that computed it. */
export const keptBecause = (because: string): string =>
  `jsonb_build_object('because', ${because}, 'by', k.by_run, 'run_id', k.run_id)`

/**
 * Moves cells that the part `cleared` of the statement removed to former_cells. A result that was already kept belongs
 * to the run that computed it.
 */
export const moveToFormer = (byRun: string): RawBuilder<unknown> => sql`
  insert into former_cells (org_id, sheet_id, row_id, action, by_run, run_id, ${results})
  select org_id, sheet_id, row_id, action, ${byRun}::uuid, coalesce((kept->>'run_id')::uuid, run_id), ${results}
  from cleared where kept is not null or run_id <> ${byRun}
  on conflict do nothing`

/**
 * Returns the parts of a statement that restore cells of the rows in `gone` (org_id, sheet_id, row_id, run_id), whose
 * flights were stopped: each cell that their run has not computed gets its former result. Also notes that the rows were
 * stopped (D92).
 */
export const endStopped = (gone: string): string => `
  standing as (
    insert into cells (${CELL_COLUMNS}, kept)
    select ${FORMER_AS_CELL}, ${keptBecause(`'stopped'`)}
    from ${gone} g, lateral (
      select * from former_cells k where k.org_id = g.org_id and k.row_id = g.row_id and k.by_run = g.run_id offset 0
    ) k
    on conflict (org_id, row_id, action) do nothing
    returning org_id, row_id, action, (kept->>'by')::uuid as by_run
  ), kept_counted as (
    -- Each statement adds a record of its own, so that none waits for another.
    insert into run_tallies as y (org_id, run_id, lane, cells_done, cells_failed, rows_done, credits_millis, cells_kept)
    select org_id, by_run, -2 - floor(random() * 1e9)::int, 0, 0, 0, 0, count(*) from standing group by org_id, by_run
    on conflict (org_id, run_id, lane) do update set cells_kept = y.cells_kept + excluded.cells_kept
  ), ${forgetStanding}, noted_stopped as (
    insert into stopped_rows (org_id, sheet_id, row_id) select org_id, sheet_id, row_id from ${gone}
    on conflict do nothing
  )`

/** Removes restored results from former_cells. */
export const forgetStanding = `
  stood as (
    delete from former_cells f using standing s
    where f.org_id = s.org_id and f.row_id = s.row_id and f.action = s.action and f.by_run = s.by_run
  )`

const KEPT_FOR = sql.raw(`interval '7 days'`)
/** Statuses of a cell without a new result. */
const WITHOUT_RESULT = sql.raw(`('failed', 'error', 'out_of_credits')`)

/** Selects the latest former result of a cell that has none now. */
const formerOf = (orgId: string, rowId: string, action: string) => sql`
  select k.* from former_cells k
  where k.org_id = ${orgId} and k.row_id = ${rowId} and k.action = ${action} and k.status = 'complete'
    and k.replaced_at > now() - ${KEPT_FOR}
    and not exists (select from cells c where c.org_id = k.org_id and c.row_id = k.row_id and c.action = k.action
      and c.status not in ${WITHOUT_RESULT})
  order by k.replaced_at desc limit 1`

export type FormerCell = {
  run_id: string
  outputs: string | null
  completed_at: Date
  credits_millis: number
}

/** Returns the former result of a failed cell, with its outputs as JSON text. */
export async function findFormer(
  db: Db,
  orgId: string,
  rowId: string,
  action: string,
): Promise<FormerCell | undefined> {
  const { rows } = await sql<FormerCell>`
    select run_id, outputs::text as outputs, completed_at, credits_millis
    from (${formerOf(orgId, rowId, action)}) former`.execute(db)
  return rows[0]
}

/**
 * Restores the former result of a cell. Returns false if there is none, or the row is in flight. Call it in a
 * transaction.
 */
export async function restoreFormer(
  trx: Db,
  { org_id, sheet_id }: SheetKey,
  rowId: string,
  action: string,
): Promise<boolean> {
  await sql`select ${exclusiveRowsLock(sheet_id)}`.execute(trx)
  const { rows } = await sql`
    with former as materialized (
      ${formerOf(org_id, rowId, action)}
    ), k as materialized (
      select * from former where not exists (select from flights where org_id = ${org_id} and row_id = ${rowId})
    ), written as (
      insert into cells (${sql.raw(CELL_COLUMNS)}) select ${sql.raw(FORMER_AS_CELL)} from k
      on conflict (org_id, row_id, action) do update set run_id = excluded.run_id, kept = null,
        ${sql.raw(RESULT.map((column) => `${column} = excluded.${column}`).join(', '))}
    ), forgotten as (
      delete from former_cells f using k
      where f.org_id = k.org_id and f.row_id = k.row_id and f.action = k.action and f.by_run = k.by_run
    )
    select ${announcing(sheet_id)} from k`.execute(trx)
  return rows.length > 0
}

/** The number of former results that one statement removes. */
const CHUNK = 10_000

/** Deletes former results that are older than a week, and those that an ended run has replaced by a new result. */
export async function forgetFormerCells(db: Db): Promise<void> {
  const old = sql`select org_id, row_id, action, by_run from former_cells where replaced_at <= now() - ${KEPT_FOR}`
  const replaced = sql`
    select f.org_id, f.row_id, f.action, f.by_run
    from (select org_id, run_id from runs where state <> 'running' and finished_at > now() - interval '1 hour' offset 0) r,
    lateral (select * from former_cells k where k.org_id = r.org_id and k.by_run = r.run_id offset 0) f
    where exists (select from cells c where c.org_id = f.org_id and c.row_id = f.row_id and c.action = f.action
      and c.run_id = f.by_run and c.status not in ${WITHOUT_RESULT} offset 0)`
  for (const chosen of [old, replaced]) {
    for (let removed = CHUNK; removed === CHUNK;) {
      const { numAffectedRows = 0n } = await sql`
        with chosen as materialized (${chosen} limit ${sql.lit(CHUNK)})
        delete from former_cells f using chosen c
        where f.org_id = c.org_id and f.row_id = c.row_id and f.action = c.action and f.by_run = c.by_run`.execute(
        db,
      )
      removed = Number(numAffectedRows)
    }
  }
}
