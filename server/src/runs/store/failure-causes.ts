import { sql } from 'kysely'
import type { FailureCause } from '#contract/screens.ts'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'

/** The length at which an error is cut. Errors that differ only after it are one cause. */
const MAX_ERROR = 300

/** Lists the failures of a run that have not run again, by action and error. Uses the index of failed cells. */
export async function listFailureCauses(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  runId: string,
  limit: number,
): Promise<FailureCause[]> {
  const { rows } = await sql<FailureCause>`
    select action as action_instance_id, status, left(coalesce(error, 'no reason was given'), ${MAX_ERROR}) as error,
      count(*)::bigint as cells
    from cells
    where org_id = ${org_id} and sheet_id = ${sheet_id} and run_id = ${runId}
      and status in ('failed', 'error', 'out_of_credits')
    group by 1, 2, 3 order by cells desc, 1, 2, 3 limit ${sql.lit(limit)}`.execute(db)
  return rows
}
