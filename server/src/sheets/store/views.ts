import { type RawBuilder, sql } from 'kysely'
import type { ViewSettings, View } from '#contract/views.ts'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { newId } from '../../lib/ids.ts'

export type ViewRecord = SheetKey &
  Pick<View, 'view_id' | 'name' | 'visibility' | 'is_default'> & {
    owner_id: string | null
    owner: string | null
    settings: ViewSettings
    made_at: Date
    updated_at: Date
  }

type Reader = { memberId: string }

/** Holds for a view `v` that a member may see: one of theirs, or a shared one. */
const isVisible = ({ memberId }: Reader) => sql`(v.visibility = 'shared' or v.owner_id = ${memberId})`

const selectViews = ({ org_id, sheet_id }: SheetKey): RawBuilder<ViewRecord> => sql`
  select v.*, m.email as owner from views v
  left join members m on m.org_id = v.org_id and m.member_id = v.owner_id
  where v.org_id = ${org_id} and v.sheet_id = ${sheet_id}`

/** Lists the views that a member may see: the default one first, then by age. */
export async function listViews(db: Db, sheet: SheetKey, reader: Reader): Promise<ViewRecord[]> {
  const { rows } = await sql<ViewRecord>`${selectViews(sheet)} and ${isVisible(reader)}
    order by v.is_default desc, v.made_at, v.view_id`.execute(db)
  return rows
}

/** Finds a view of the sheet, of those that the member may see; of all views without a member. */
export async function findView(
  db: Db,
  sheet: SheetKey,
  viewId: string,
  reader?: Reader,
): Promise<ViewRecord | undefined> {
  const visible = reader === undefined ? sql`true` : isVisible(reader)
  const { rows } =
    await sql<ViewRecord>`${selectViews(sheet)} and v.view_id = ${viewId} and ${visible}`.execute(db)
  return rows[0]
}

/** Locks the views of a sheet until the transaction ends, and returns their number. */
export async function lockViews(db: Db, { org_id, sheet_id }: SheetKey): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with locked as (
      select from views where org_id = ${org_id} and sheet_id = ${sheet_id} order by view_id for update
    )
    select count(*)::int as count from locked`.execute(db)
  return rows[0]?.count ?? 0
}

export type NewView = Pick<ViewRecord, 'name' | 'visibility' | 'is_default' | 'owner_id' | 'settings'>

/** Inserts a view and returns its id. Call it under `lockViews`. */
export async function insertView(db: Db, { org_id, sheet_id }: SheetKey, view: NewView): Promise<string> {
  const view_id = newId()
  const { name, visibility, is_default, owner_id, settings } = view
  if (is_default) await clearDefault(db, { org_id, sheet_id })
  await sql`insert into views (org_id, view_id, sheet_id, owner_id, name, visibility, is_default, settings)
    values (${org_id}, ${view_id}, ${sheet_id}, ${owner_id}::uuid, ${name}, ${visibility}, ${is_default}, ${JSON.stringify(settings)}::jsonb)`.execute(
    db,
  )
  return view_id
}

/** Replaces what people change of a view. Call it under `lockViews`. */
export async function updateView(db: Db, view: Omit<ViewRecord, 'owner'>): Promise<void> {
  const { org_id, view_id, name, visibility, is_default, settings } = view
  if (is_default) await clearDefault(db, view)
  await sql`update views set name = ${name}, visibility = ${visibility}, is_default = ${is_default},
      settings = ${JSON.stringify(settings)}::jsonb, updated_at = now()
    where org_id = ${org_id} and view_id = ${view_id}`.execute(db)
}

async function clearDefault(db: Db, { org_id, sheet_id }: SheetKey): Promise<void> {
  await sql`update views set is_default = false where org_id = ${org_id} and sheet_id = ${sheet_id} and is_default`.execute(
    db,
  )
}

export async function deleteView(
  db: Db,
  { org_id, view_id }: Pick<ViewRecord, 'org_id' | 'view_id'>,
): Promise<void> {
  await sql`delete from views where org_id = ${org_id} and view_id = ${view_id}`.execute(db)
}

/** Copies the shared views of a sheet to another one, in place of its default view. */
export async function copyViews(
  db: Db,
  { from, to, ownerId }: { from: SheetKey; to: SheetKey; ownerId: string },
): Promise<void> {
  await sql`with gone as (delete from views where org_id = ${to.org_id} and sheet_id = ${to.sheet_id} returning 1)
    select count(*) from gone`.execute(db)
  await sql`insert into views (org_id, view_id, sheet_id, owner_id, name, visibility, is_default, settings, made_at)
    select org_id, gen_random_uuid(), ${to.sheet_id}, case when owner_id is not null then ${ownerId}::uuid end, name, visibility,
      is_default, settings, made_at
    from views where org_id = ${from.org_id} and sheet_id = ${from.sheet_id} and visibility = 'shared'`.execute(
    db,
  )
}

/** Changes the settings of every view of a sheet, such as after a rename of inputs. */
export async function mapViewSettings(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  map: (settings: ViewSettings) => ViewSettings,
): Promise<void> {
  const { rows } = await sql<Pick<ViewRecord, 'view_id' | 'settings'>>`select view_id, settings from views
    where org_id = ${org_id} and sheet_id = ${sheet_id} and settings <> '{}' order by view_id for update`.execute(
    db,
  )
  for (const { view_id, settings } of rows)
    await sql`update views set settings = ${JSON.stringify(map(settings))}::jsonb
      where org_id = ${org_id} and view_id = ${view_id}`.execute(db)
}

/** Finds the schedule that runs the rows of a view. */
export async function findScheduleOf(
  db: Db,
  { org_id, sheet_id, view_id }: Pick<ViewRecord, 'org_id' | 'sheet_id' | 'view_id'>,
): Promise<{ cron: string; timezone: string } | undefined> {
  return db
    .selectFrom('schedules')
    .select(['cron', 'timezone'])
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .where('view_id', '=', view_id)
    .executeTakeFirst()
}
