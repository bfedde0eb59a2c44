import type { SheetLayout } from '#contract/sheet-layout.ts'
import type { Db } from '../../database/connection/db.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'

type LayoutKey = SheetKey & { member_id: string }

export async function findLayout(
  db: Db,
  { org_id, sheet_id, member_id }: LayoutKey,
): Promise<SheetLayout | undefined> {
  const found = await db
    .selectFrom('sheet_layouts')
    .select('layout')
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .where('member_id', '=', member_id)
    .executeTakeFirst()
  return found?.layout
}

export async function putLayout(
  db: Db,
  { org_id, sheet_id, member_id }: LayoutKey,
  layout: SheetLayout,
): Promise<void> {
  const change = { layout: JSON.stringify(layout), updated_at: new Date() }
  await db
    .insertInto('sheet_layouts')
    .values({ org_id, sheet_id, member_id, ...change })
    .onConflict((conflict) => conflict.columns(['org_id', 'sheet_id', 'member_id']).doUpdateSet(change))
    .execute()
}
