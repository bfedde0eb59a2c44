import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { Schema } from '../../database/connection/schema.ts'
import type { SourceFault, SourceStatus } from '../../database/tables/source-tables.ts'
import { giveBackReservation } from './source-holds.ts'

export type SourceRecord = Selectable<Schema['sources']>
export type SourceKey = { org_id: string; instance_id: string }
export type {
  LastPull,
  PullCounts,
  SourceFault,
  SourceStatus,
  SourceWalk,
} from '../../database/tables/source-tables.ts'

type NewSourceColumn =
  | 'org_id'
  | 'instance_id'
  | 'slug'
  | 'name'
  | 'provider'
  | 'connection'
  | 'owner_id'
  | 'created_by'
  | 'schedule'
  | 'cron'
  | 'stop_at'
  | 'pull_existing'
  | 'max_records'
  | 'max_credits_millis'
  | 'next_pull_at'
export type NewSource = Pick<Insertable<Schema['sources']>, NewSourceColumn> & {
  body: Record<string, unknown>
}

export async function insertSource(db: Db, { body, ...source }: NewSource): Promise<SourceRecord> {
  return db
    .insertInto('sources')
    .values({ ...source, body: JSON.stringify(body) })
    .returningAll()
    .executeTakeFirstOrThrow()
}

const selectSource = (db: Db, { org_id, instance_id }: SourceKey) =>
  db
    .selectFrom('sources')
    .selectAll()
    .where('org_id', '=', org_id)
    .where('instance_id', '=', instance_id)
    .where('status', '!=', 'deleted')

/** Finds a source. Returns undefined also if it was deleted. */
export const findSource = (db: Db, key: SourceKey): Promise<SourceRecord | undefined> =>
  selectSource(db, key).executeTakeFirst()

/** Finds a source and locks it against changes until the transaction ends. */
export const lockSource = (db: Db, key: SourceKey): Promise<SourceRecord | undefined> =>
  selectSource(db, key).forUpdate().executeTakeFirst()

export async function findOrganisationOfSource(db: Db, instanceId: string): Promise<string | undefined> {
  const found = await db
    .selectFrom('sources')
    .select('org_id')
    .where('instance_id', '=', instanceId)
    .executeTakeFirst()
  return found?.org_id
}

/**
 * Lists sources, newest first, without deleted ones. With workflow ids (a narrowed key), lists those that deliver into
 * them.
 */
export async function listSources(
  db: Db,
  orgId: string,
  workflowIds: ReadonlySet<string> | null = null,
): Promise<
  Pick<
    SourceRecord,
    | 'instance_id'
    | 'name'
    | 'slug'
    | 'status'
    | 'lead_count'
    | 'created_at'
    | 'stop_at'
    | 'schedule'
    | 'next_pull_at'
  >[]
> {
  return db
    .selectFrom('sources')
    .select([
      'instance_id',
      'name',
      'slug',
      'status',
      'lead_count',
      'created_at',
      'stop_at',
      'schedule',
      'next_pull_at',
    ])
    .where('org_id', '=', orgId)
    .where('status', '!=', 'deleted')
    .$if(workflowIds !== null, (query) =>
      query.where(
        sql<boolean>`exists (select from source_syncs y where y.org_id = sources.org_id
          and y.instance_id = sources.instance_id and y.workflow_id = any(${[...(workflowIds ?? [])]}::uuid[]))`,
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('instance_id', 'desc')
    .execute()
}

/** Lists the sources of a member. They have no owner once the member is removed. */
export async function listSourcesOwnedBy(
  db: Db,
  orgId: string,
  memberId: string,
): Promise<{ instance_id: string; name: string }[]> {
  return db
    .selectFrom('sources')
    .select(['instance_id', 'name'])
    .where('org_id', '=', orgId)
    .where('owner_id', '=', memberId)
    .where('status', '!=', 'deleted')
    .orderBy('instance_id')
    .execute()
}

/**
 * Changes the status from one of `from` to `to`. It ends the worker's claim and releases its reservation. Returns false
 * if the source has none of the `from` statuses.
 */
export async function changeStatus(
  db: Db,
  { org_id, instance_id }: SourceKey,
  from: readonly SourceStatus[],
  to: SourceStatus,
): Promise<boolean> {
  const { rows } = await sql<{ held: number }>`
    with before as (
      select held_millis from sources
      where org_id = ${org_id} and instance_id = ${instance_id} and status = any(${from}::text[]) for update
    )
    update sources s set status = ${to}, version = version + 1, claimed_until = null, held_millis = 0, failures = 0
    from before where s.org_id = ${org_id} and s.instance_id = ${instance_id}
    returning before.held_millis as held`.execute(db)
  const [changed] = rows
  if (changed === undefined) return false
  if (changed.held > 0) await giveBackReservation(db, { org_id, instance_id })
  return true
}

/** Notes on the source why its records do not reach their workflow. */
export async function noteFault(
  db: Db,
  { org_id, instance_id }: SourceKey,
  fault: SourceFault,
): Promise<void> {
  await db
    .updateTable('sources')
    .set({ last_error: JSON.stringify(fault) })
    .where('org_id', '=', org_id)
    .where('instance_id', '=', instance_id)
    .execute()
}

type ChangeableColumn =
  | Exclude<NewSourceColumn, 'org_id' | 'instance_id' | 'slug' | 'owner_id' | 'created_by' | 'next_pull_at'>
  | 'status'
  | 'walk'
  | 'resume'
  | 'last_error'
export type SourceChange = Pick<Updateable<Schema['sources']>, ChangeableColumn | 'body'> & {
  next_pull_at?: Date | null
}

/**
 * Changes a locked source. It ends the worker's claim and releases its reservation, so a page that is being read is
 * not stored.
 */
export async function updateSource(db: Db, locked: SourceRecord, change: SourceChange): Promise<void> {
  const { org_id, instance_id, held_millis } = locked
  await db
    .updateTable('sources')
    .set({ ...change, version: sql`version + 1`, claimed_until: null, held_millis: 0, failures: 0 })
    .where('org_id', '=', org_id)
    .where('instance_id', '=', instance_id)
    .execute()
  if (held_millis > 0) await giveBackReservation(db, { org_id, instance_id })
}

export async function setMaxCredits(
  db: Db,
  { org_id, instance_id }: SourceKey,
  capMillis: number | null,
): Promise<void> {
  await db
    .updateTable('sources')
    .set({ max_credits_millis: capMillis })
    .where('org_id', '=', org_id)
    .where('instance_id', '=', instance_id)
    .execute()
}

const PURGE_CHUNK = 5000

/** Deletes a chunk of what deleted sources leave behind. Returns false if there is nothing more. */
export async function purgeDeletedSources(db: Db): Promise<boolean> {
  const deleted = await db
    .selectFrom('sources')
    .select(['org_id', 'instance_id'])
    .where('status', '=', 'deleted')
    .limit(sql.lit(1))
    .executeTakeFirst()
  if (deleted === undefined) return false
  for (const table of ['source_inbox', 'source_visits', 'source_deliveries', 'source_records'] as const) {
    const { numAffectedRows } = await sql`delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)} where org_id = ${deleted.org_id} and instance_id = ${deleted.instance_id}
      limit ${sql.lit(PURGE_CHUNK)}))`.execute(db)
    if ((numAffectedRows ?? 0n) > 0n) return true
  }
  await db
    .deleteFrom('sources')
    .where('org_id', '=', deleted.org_id)
    .where('instance_id', '=', deleted.instance_id)
    .execute()
  return true
}
