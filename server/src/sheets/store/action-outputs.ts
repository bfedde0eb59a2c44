import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { DiscoveredOutput } from '../../database/connection/json-columns.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'

/** Lists the outputs that runs have discovered, by action. */
export async function listDiscoveredOutputs(
  db: Db,
  { org_id, sheet_id }: SheetKey,
): Promise<Map<string, DiscoveredOutput[]>> {
  const found = await db
    .selectFrom('action_outputs')
    .select(['action', 'outputs'])
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .execute()
  return new Map(found.map(({ action, outputs }) => [action, outputs]))
}

export async function putDiscoveredOutputs(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  action: string,
  discovered: readonly DiscoveredOutput[],
): Promise<void> {
  const outputs = JSON.stringify(discovered)
  await db
    .insertInto('action_outputs')
    .values({ org_id, sheet_id, action, outputs })
    .onConflict((conflict) => conflict.columns(['org_id', 'sheet_id', 'action']).doUpdateSet({ outputs }))
    .execute()
}

/**
 * Returns the outputs of the action's latest complete cell. Returns undefined if it never completed, or no such row is left.
 * Of cells that were completed together a few are marked (`learns`); if none of those is left, the newest rows are read.
 */
export async function findLatestOutputs(db: Db, sheet: SheetKey, action: string): Promise<unknown> {
  return (await findMarked(db, sheet, action)) ?? findAmongNewest(db, sheet, action)
}

async function findMarked(db: Db, { org_id, sheet_id }: SheetKey, action: string): Promise<unknown> {
  const { rows } = await sql<{ outputs: unknown }>`
    select c.outputs from cells c
    join rows r on r.org_id = c.org_id and r.row_id = c.row_id
    where c.learns and c.org_id = ${org_id} and c.sheet_id = ${sheet_id} and c.action = ${action}
      and c.status = 'complete' and c.outputs is not null
      and r.seq >= (select first_seq from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id})
    order by c.completed_at desc limit 1`.execute(db)
  return rows[0]?.outputs
}

const NEWEST = 1000

async function findAmongNewest(db: Db, { org_id, sheet_id }: SheetKey, action: string): Promise<unknown> {
  const { rows } = await sql<{ outputs: unknown }>`
    select c.outputs from (
      select row_id from rows where org_id = ${org_id} and sheet_id = ${sheet_id}
        and seq >= (select first_seq from sheet_counters where org_id = ${org_id} and sheet_id = ${sheet_id})
      order by seq desc limit ${sql.lit(NEWEST)}
    ) r
    join cells c on c.org_id = ${org_id} and c.row_id = r.row_id and c.action = ${action}
    where c.status = 'complete' and c.outputs is not null
    order by c.completed_at desc limit 1`.execute(db)
  return rows[0]?.outputs
}
