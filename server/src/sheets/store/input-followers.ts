import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'

export type NamingSheet = { sheet_id: string; workflow_id: string; revision: number }

/**
 * Lists the other sheets of the organisation whose chain holds the id of a sheet, such as those that send rows to it.
 * With `among`, only those of these ids.
 */
export async function listSheetsNaming(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  among: readonly string[] | null = null,
): Promise<NamingSheet[]> {
  const { rows } = await sql<NamingSheet>`
    select s.sheet_id, s.workflow_id, s.revision from sheets s
    join workflows w on w.org_id = s.org_id and w.workflow_id = s.workflow_id
    join chain_revisions c on c.org_id = s.org_id and c.sheet_id = s.sheet_id and c.revision = s.revision
    where s.org_id = ${org_id} and s.sheet_id <> ${sheet_id} and s.deleted_at is null and w.deleted_at is null
      and (${among}::uuid[] is null or s.sheet_id = any(${among}::uuid[]))
      and strpos(lower(c.definition::text), ${`"${sheet_id.toLowerCase()}"`}) > 0
    order by s.sheet_id`.execute(db)
  return rows
}

/**
 * Locks the syncs that bring rows into the main sheet of a workflow, and then the workflows, each kind in its order
 * (server/src/database/README.md).
 */
export async function lockFollowers(
  trx: Db,
  { org_id, workflow_id }: { org_id: string; workflow_id: string },
  workflowIds: readonly string[],
): Promise<void> {
  await sql`select from source_syncs where org_id = ${org_id} and workflow_id = ${workflow_id}
    order by instance_id for update`.execute(trx)
  await sql`select from segment_syncs y where y.org_id = ${org_id} and y.sync_id = any(array(
      select sync_id from segment_destinations where org_id = ${org_id} and workflow_id = ${workflow_id}))
    order by y.sync_id for update of y`.execute(trx)
  await sql`select from workflows where org_id = ${org_id} and workflow_id = any(${[...workflowIds]}::uuid[])
      and deleted_at is null
    order by workflow_id for no key update`.execute(trx)
}

/** Renames inputs in the mappings of the syncs that bring rows into a workflow. Call it under `lockFollowers`. */
export async function renameInMappings(
  trx: Db,
  { org_id, workflow_id }: { org_id: string; workflow_id: string },
  names: ReadonlyMap<string, string>,
): Promise<void> {
  const renames = JSON.stringify(Object.fromEntries(names))
  for (const table of ['source_syncs', 'segment_destinations']) {
    await sql`update ${sql.table(table)} set mapping = (
        select jsonb_agg(case when ${renames}::jsonb ? (item ->> 'input')
          then item || jsonb_build_object('input', ${renames}::jsonb -> (item ->> 'input')) else item end order by place)
        from jsonb_array_elements(mapping) with ordinality as m (item, place))
      where org_id = ${org_id} and workflow_id = ${workflow_id} and jsonb_array_length(mapping) > 0`.execute(
      trx,
    )
  }
}

/** Renames inputs in the layouts that members have saved for a sheet. */
export async function renameInLayouts(
  trx: Db,
  { org_id, sheet_id }: SheetKey,
  names: ReadonlyMap<string, string>,
): Promise<void> {
  const keys = new Map([...names].map(([former, name]) => [`input.${former}`, `input.${name}`]))
  const renamed = (key: string) => keys.get(key) ?? key
  const layouts = await trx
    .selectFrom('sheet_layouts')
    .select(['member_id', 'layout'])
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .orderBy('member_id')
    .forUpdate()
    .execute()
  for (const { member_id, layout } of layouts) {
    const next = {
      ...layout,
      order: layout.order.map(renamed),
      hidden: layout.hidden.map(renamed),
      frozen: layout.frozen.map(renamed),
      widths: Object.fromEntries(Object.entries(layout.widths).map(([key, width]) => [renamed(key), width])),
    }
    await trx
      .updateTable('sheet_layouts')
      .set({ layout: JSON.stringify(next) })
      .where('org_id', '=', org_id)
      .where('sheet_id', '=', sheet_id)
      .where('member_id', '=', member_id)
      .execute()
  }
}
