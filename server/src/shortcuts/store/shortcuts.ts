import { type RawBuilder, sql, type Updateable } from 'kysely'
import type { ShortcutDetails } from '#contract/shortcuts.ts'
import type { Db } from '../../database/connection/db.ts'
import type { FrozenInput, FrozenOutput } from '../../database/connection/json-columns.ts'
import type { Schema } from '../../database/connection/schema.ts'
import { toStorableJson } from '../../lib/json/storable.ts'

export type ShortcutVersion = {
  revision: number
  continue_on_fail: boolean
  inputs: FrozenInput[]
  outputs: FrozenOutput[]
  inputs_given: boolean
  outputs_given: boolean
}

/** A shortcut or a shared copy with its current version. A copy has the data of its parent. */
export type ShortcutRecord = ShortcutVersion &
  ShortcutDetails & {
    org_id: string
    shortcut_id: string
    workflow_id: string
    parent_id: string | null
    holder_id: string | null
    creator_id: string | null
    creator_email: string
    is_published: boolean
    is_archived: boolean
    version: number
    created_at: Date
    updated_at: Date
  }

/** A shortcut for one member, with the owner of its workflow, and whether it is shared with the member. */
export type ShortcutFor = ShortcutRecord & { owner_id: string | null; is_shared: boolean }

/**
 * Selects shortcuts of workflows that are not deleted, newest first. Without a member none counts as shared.
 */
async function selectShortcuts(
  db: Db,
  orgId: string,
  memberId: string | null,
  condition: RawBuilder<unknown> = sql`true`,
): Promise<ShortcutFor[]> {
  const { rows } = await sql<ShortcutFor>`
    select s.org_id, s.shortcut_id, s.workflow_id, s.parent_id, s.holder_id, m.creator_id, m.creator_email, m.name,
      m.description, m.cover_image, m.icon_emoji, s.is_published and m.is_published as is_published,
      s.is_archived or m.is_archived as is_archived, s.created_at, greatest(s.updated_at, m.updated_at) as updated_at,
      m.version, v.revision, v.continue_on_fail, v.inputs, v.outputs, v.inputs_given, v.outputs_given, w.owner_id,
      exists (
        select from workflow_shares h
        where h.org_id = s.org_id and h.workflow_id = s.workflow_id and h.member_id = ${memberId}::uuid) as is_shared
    from shortcuts s
    join shortcuts m on m.org_id = s.org_id and m.shortcut_id = coalesce(s.parent_id, s.shortcut_id)
    join shortcut_versions v on v.org_id = m.org_id and v.shortcut_id = m.shortcut_id and v.version = m.version
    join workflows w on w.org_id = s.org_id and w.workflow_id = s.workflow_id
    where s.org_id = ${orgId} and w.deleted_at is null and ${condition}
    order by s.shortcut_id desc`.execute(db)
  return rows
}

export async function listShortcuts(db: Db, orgId: string, memberId: string | null): Promise<ShortcutFor[]> {
  return selectShortcuts(db, orgId, memberId)
}

export async function findShortcut(
  db: Db,
  orgId: string,
  memberId: string | null,
  shortcutId: string,
): Promise<ShortcutFor | undefined> {
  const [found] = await selectShortcuts(db, orgId, memberId, sql`s.shortcut_id = ${shortcutId}`)
  return found
}

/** Finds the organisation of a shortcut, for the operator, who names it only by its id. */
export async function findOrganisationOfShortcut(db: Db, shortcutId: string): Promise<string | undefined> {
  const found = await db
    .selectFrom('shortcuts')
    .select('org_id')
    .where('shortcut_id', '=', shortcutId)
    .executeTakeFirst()
  return found?.org_id
}

export type ShortcutKey = { org_id: string; shortcut_id: string }
export type NewShortcut = ShortcutKey &
  ShortcutDetails & {
    workflow_id: string
    creator_id: string | null
    creator_email: string
    parent_id?: string
    holder_id?: string
  }

export async function insertShortcut(db: Db, shortcut: NewShortcut): Promise<void> {
  await db.insertInto('shortcuts').values(shortcut).execute()
}

/** Locks a shortcut until the end of the transaction, so that it is changed by one call at a time. */
export async function lockShortcut(db: Db, { org_id, shortcut_id }: ShortcutKey): Promise<void> {
  await db
    .selectFrom('shortcuts')
    .select('shortcut_id')
    .where('org_id', '=', org_id)
    .where('shortcut_id', '=', shortcut_id)
    .forNoKeyUpdate()
    .execute()
}

type Change = Pick<
  Updateable<Schema['shortcuts']>,
  keyof ShortcutDetails | 'version' | 'is_published' | 'is_archived'
>

export async function updateShortcut(
  db: Db,
  { org_id, shortcut_id }: ShortcutKey,
  change: Change,
): Promise<void> {
  await db
    .updateTable('shortcuts')
    .set({ ...change, updated_at: sql<Date>`clock_timestamp()` })
    .where('org_id', '=', org_id)
    .where('shortcut_id', '=', shortcut_id)
    .execute()
}

/** Returns the id of a member's copy of a shortcut. */
export async function findCopy(
  db: Db,
  { org_id, shortcut_id }: ShortcutKey,
  holderId: string,
): Promise<string | undefined> {
  const found = await db
    .selectFrom('shortcuts')
    .select('shortcut_id')
    .where('org_id', '=', org_id)
    .where('parent_id', '=', shortcut_id)
    .where('holder_id', '=', holderId)
    .executeTakeFirst()
  return found?.shortcut_id
}

export async function insertVersion(
  db: Db,
  { org_id, shortcut_id }: ShortcutKey,
  { version, frozen, createdBy }: { version: number; frozen: ShortcutVersion; createdBy: string },
): Promise<void> {
  const inputs = toStorableJson(frozen.inputs)
  const outputs = toStorableJson(frozen.outputs)
  await db
    .insertInto('shortcut_versions')
    .values({ ...frozen, org_id, shortcut_id, version, inputs, outputs, created_by: createdBy })
    .execute()
}

export type VersionRecord = Pick<ShortcutVersion, 'revision' | 'inputs' | 'outputs'> & {
  version: number
  created_by: string
  created_at: Date
}

/** Lists the latest versions of a shortcut, newest first. */
export async function listVersions(
  db: Db,
  { org_id, shortcut_id }: ShortcutKey,
  limit: number,
): Promise<VersionRecord[]> {
  return db
    .selectFrom('shortcut_versions')
    .select(['version', 'revision', 'inputs', 'outputs', 'created_by', 'created_at'])
    .where('org_id', '=', org_id)
    .where('shortcut_id', '=', shortcut_id)
    .orderBy('version', 'desc')
    .limit(sql.lit(limit))
    .execute()
}
