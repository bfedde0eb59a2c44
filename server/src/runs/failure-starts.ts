import { sql } from 'kysely'
import type { Definition } from '../catalog/chain/definition.ts'
import type { Db } from '../database/connection/db.ts'
import type { SheetKey } from '../database/tables/sheet-key.ts'
import { chosenRows, type FromFailure, type RowChoice } from './row-choice.ts'

/**
 * Returns the choice of those of the rows that have a failed or missing cell of these actions. Each begins at the first
 * such cell (H11). An action that was skipped ends its row, unless its condition says that the row goes on. A filter
 * always ends it.
 */
export function chooseFromFailure(
  rows: RowChoice,
  actions: readonly string[],
  definition: Definition,
): FromFailure {
  const goesOn = definition.actions.filter(
    ({ action_id, run_if }) =>
      action_id !== 'filter' && run_if?.continue_workflow_if_run_condition_not_met === true,
  )
  const ids = new Set(goesOn.map(({ id }) => id))
  return { kind: 'from_failure', rows, actions, ends: actions.filter((id) => !ids.has(id)) }
}

/** The number of rows above which they are only counted. */
const MAX_LOOKED = 10_000

/** Rows that would run from the first of these actions on. */
export type StartGroup = {
  actions: string[]
  rows: Extract<RowChoice, { kind: 'ids' }> | { kind: 'new'; count: number }
}

/** Returns a group of rows whose ids were read up to the number that is looked at. */
export const toStartGroup = (
  actions: string[],
  { count, ids }: { count: number; ids: string[] },
): StartGroup => ({
  actions,
  rows: count > MAX_LOOKED ? { kind: 'new', count } : { kind: 'ids', ids },
})

/** Selects the ids of a group, up to the number that is looked at. */
export const firstIds = sql.raw(`(array_agg(row_id))[1:${MAX_LOOKED}]`)

/** Groups the rows of a choice by the action at which they begin. */
export async function readStartGroups(db: Db, sheet: SheetKey, choice: FromFailure): Promise<StartGroup[]> {
  const { rows } = await sql<{ skipped: number; count: number; ids: string[] }>`
    with chosen as materialized (${chosenRows(sheet, choice)})
    select skipped, count(*)::int as count, ${firstIds} as ids from chosen group by skipped order by skipped`.execute(
    db,
  )
  return rows.map(({ skipped, ...found }) => toStartGroup(choice.actions.slice(skipped), found))
}
