import { type Selectable, sql, type Updateable } from 'kysely'
import type { Definition } from '../../catalog/chain/definition.ts'
import { announcing } from '../../database/connection/changes.ts'
import type { Db } from '../../database/connection/db.ts'
import { lockCounters, lockRowsExclusively } from '../../database/connection/locks.ts'
import type { Schema } from '../../database/connection/schema.ts'
import type { SheetKey } from '../../database/tables/sheet-key.ts'
import { notFound } from '../../lib/errors.ts'
import type { Actor } from '../../organisation/store/audit.ts'
import { dropFlights } from '../../runs/store/flights.ts'
import { startDefinition } from './definitions.ts'
import type { WorkflowFor } from './workflows.ts'

export type SheetRecord = Omit<Selectable<Schema['sheets']>, 'deleted_at'>

const SHEET_FIELDS = [
  'sheets.org_id',
  'sheets.sheet_id',
  'sheets.workflow_id',
  'sheets.name',
  'sheets.position',
  'sheets.owner_id',
  'sheets.auto_run',
  'sheets.cache_enabled',
  'sheets.cache_since',
  'sheets.continue_on_fail',
  'sheets.revision',
  'sheets.next_column',
  'sheets.action_serials',
  'sheets.created_at',
] as const

/** Selects the sheets of an organisation that are not deleted. */
export function selectSheets(db: Db, orgId: string) {
  return db
    .selectFrom('sheets')
    .select(SHEET_FIELDS)
    .where('sheets.org_id', '=', orgId)
    .where('sheets.deleted_at', 'is', null)
}

export async function findSheet(db: Db, orgId: string, sheetId: string): Promise<SheetRecord | undefined> {
  return selectSheets(db, orgId).where('sheets.sheet_id', '=', sheetId).executeTakeFirst()
}

export type SheetWithWorkflow = { workflow: WorkflowFor; sheet: SheetRecord }

/** A workflow and a sheet in one record, as returned by statements that begin with SHEET_COLUMNS. */
export type SheetWithWorkflowRow = WorkflowFor &
  Omit<SheetRecord, 'name' | 'owner_id' | 'created_at'> & {
    sheet_name: string
    sheet_owner_id: SheetRecord['owner_id']
    sheet_created_at: Date
  }

/** The columns of a workflow `w` and its sheet `s`. `is_shared` depends on the member and is added to them. */
export const SHEET_COLUMNS = `w.org_id, w.workflow_id, w.name, w.owner_id, w.created_at, w.updated_at, w.last_run_at,
    s.sheet_id, s.name as sheet_name, s.position, s.owner_id as sheet_owner_id, s.auto_run, s.cache_enabled, s.cache_since,
    s.continue_on_fail, s.revision, s.next_column, s.action_serials, s.created_at as sheet_created_at`
export const LIVING_SHEETS = `from workflows w join sheets s on s.org_id = w.org_id and s.workflow_id = w.workflow_id
  where w.deleted_at is null and s.deleted_at is null`
/** Selects the shares of the workflow `w`. */
export const SHARES = 'workflow_shares h where h.org_id = w.org_id and h.workflow_id = w.workflow_id'

/** Finds a sheet with its workflow, as one member sees it, by one statement. */
export async function findSheetWithWorkflow(
  db: Db,
  { orgId, memberId }: { orgId: string; memberId: string },
  { workflowId, sheetId }: { workflowId: string; sheetId: string },
): Promise<SheetWithWorkflow | undefined> {
  const { rows } = await sql<SheetWithWorkflowRow>`select ${sql.raw(SHEET_COLUMNS)},
      exists (select from ${sql.raw(SHARES)} and h.member_id = ${memberId}) as is_shared
    ${sql.raw(LIVING_SHEETS)} and w.org_id = ${orgId} and w.workflow_id = ${workflowId} and s.sheet_id = ${sheetId}`.execute(
    db,
  )
  return rows[0] === undefined ? undefined : toSheetWithWorkflow(rows[0])
}

export function toSheetWithWorkflow(row: SheetWithWorkflowRow): SheetWithWorkflow {
  const { org_id, workflow_id, name, owner_id, created_at, updated_at, last_run_at, is_shared } = row
  const { sheet_id, position, auto_run, cache_enabled, cache_since, continue_on_fail, revision } = row
  const { next_column, action_serials } = row
  return {
    workflow: { org_id, workflow_id, name, owner_id, created_at, updated_at, last_run_at, is_shared },
    sheet: {
      org_id,
      sheet_id,
      workflow_id,
      name: row.sheet_name,
      position,
      owner_id: row.sheet_owner_id,
      auto_run,
      cache_enabled,
      cache_since,
      continue_on_fail,
      revision,
      next_column,
      action_serials,
      created_at: row.sheet_created_at,
    },
  }
}

/**
 * Reads the state that every watcher of a sheet gets: the current revision, the number of rows, and a hash of the names of
 * the workflow and its sheets.
 */
export async function readSheetState(
  db: Db,
  { org_id, sheet_id }: SheetKey,
): Promise<{ revision: number; rows: number; names: string } | undefined> {
  const { rows } = await sql<{ revision: number; rows: number; names: string }>`
    select s.revision, c.next_seq - c.first_seq - c.deleted as rows, (
        select md5(w.name || coalesce(string_agg(chr(10) || o.sheet_id || o.name, '' order by o.position, o.sheet_id), ''))
        from workflows w left join sheets o
          on o.org_id = w.org_id and o.workflow_id = w.workflow_id and o.deleted_at is null
        where w.org_id = s.org_id and w.workflow_id = s.workflow_id group by w.name
      ) as names
    from sheets s join sheet_counters c on c.org_id = s.org_id and c.sheet_id = s.sheet_id
    where s.org_id = ${org_id} and s.sheet_id = ${sheet_id} and s.deleted_at is null`.execute(db)
  return rows[0]
}

/** Finds a sheet by its id alone, for the operator. */
export async function findSheetById(db: Db, sheetId: string): Promise<SheetRecord | undefined> {
  return db
    .selectFrom('sheets')
    .select(SHEET_FIELDS)
    .where('sheets.sheet_id', '=', sheetId)
    .where('sheets.deleted_at', 'is', null)
    .executeTakeFirst()
}

/**
 * Lists every sheet of an organisation that is not deleted, by workflow: the main sheet first, then the others in their
 * order.
 */
export async function listAllSheets(db: Db, orgId: string): Promise<Map<string, SheetRecord[]>> {
  const sheets = await selectSheets(db, orgId).orderBy('sheets.position').orderBy('sheets.sheet_id').execute()
  return Map.groupBy(
    [...sheets.filter(isMainSheet), ...sheets.filter((sheet) => !isMainSheet(sheet))],
    (sheet) => sheet.workflow_id,
  )
}

/** Lists the sheets of a workflow: the main sheet first, then the others in their order. */
export async function listSheets(db: Db, orgId: string, workflowId: string): Promise<SheetRecord[]> {
  const sheets = await selectSheets(db, orgId)
    .where('sheets.workflow_id', '=', workflowId)
    .orderBy('sheets.position')
    .orderBy('sheets.sheet_id')
    .execute()
  return [...sheets.filter(isMainSheet), ...sheets.filter((sheet) => !isMainSheet(sheet))]
}

export function isMainSheet(sheet: { sheet_id: string; workflow_id: string }): boolean {
  return sheet.sheet_id === sheet.workflow_id
}

export type SheetSettings = Pick<SheetRecord, 'auto_run' | 'cache_enabled' | 'cache_since'>
type Required = 'org_id' | 'sheet_id' | 'workflow_id' | 'name' | 'position' | 'owner_id'
export type NewSheet = Pick<SheetRecord, Required> &
  Partial<SheetSettings & Pick<SheetRecord, 'continue_on_fail' | 'next_column' | 'action_serials'>>

/** Inserts a sheet with its first revision and its row counter. Call it in a transaction. */
export async function insertSheet(
  db: Db,
  actor: Actor,
  { action_serials = {}, ...sheet }: NewSheet,
  definition?: Definition,
): Promise<SheetRecord> {
  const made = await db
    .insertInto('sheets')
    .values({ ...sheet, action_serials: JSON.stringify(action_serials) })
    .returning(SHEET_FIELDS)
    .executeTakeFirstOrThrow()
  const { org_id, sheet_id } = made
  await startDefinition(db, actor, { org_id, sheet_id }, definition)
  await db.insertInto('sheet_counters').values({ org_id, sheet_id }).execute()
  return made
}

/** Returns the position after the last sheet, deleted ones included. Call it under the lock of the workflow. */
export async function nextPosition(db: Db, orgId: string, workflowId: string): Promise<number> {
  const { last } = await db
    .selectFrom('sheets')
    .select((eb) => eb.fn.max('position').as('last'))
    .where('org_id', '=', orgId)
    .where('workflow_id', '=', workflowId)
    .executeTakeFirstOrThrow()
  return (last ?? 0) + 1
}

/** Announces changed names to all sheets of the workflow, because viewers of any sheet see the names of all. */
export async function announceNames(db: Db, orgId: string, workflowId: string): Promise<void> {
  await db
    .selectFrom('sheets')
    .select(announcing(sql`sheet_id`).as('announced'))
    .where('org_id', '=', orgId)
    .where('workflow_id', '=', workflowId)
    .execute()
}

export async function updateSheet(
  db: Db,
  { org_id, sheet_id }: SheetKey,
  change: Pick<Updateable<Schema['sheets']>, 'name' | keyof SheetSettings>,
): Promise<SheetRecord> {
  const changed = await db
    .updateTable('sheets')
    .set(change)
    .where('org_id', '=', org_id)
    .where('sheet_id', '=', sheet_id)
    .where('deleted_at', 'is', null)
    .returning(SHEET_FIELDS)
    .executeTakeFirst()
  if (changed === undefined) throw notFound('Sheet')
  return changed
}

/**
 * Hides sheets at once and leaves their contents to a purge; returns the number of sheets. Their counters are deleted now, so
 * that no row is added to a deleted sheet: this waits for a request that is adding rows, and a later request finds no
 * counter.
 */
export async function markSheetsDeleted(db: Db, orgId: string, ids: readonly string[]): Promise<number> {
  await lockRowsExclusively(db, ids)
  await lockCounters(db, orgId, ids)
  await dropFlights(db, orgId, { sheetIds: ids })
  const { numAffectedRows } = await sql`
    with marked as (
      update sheets set deleted_at = now()
      where org_id = ${orgId} and sheet_id = any(${ids}::uuid[]) and deleted_at is null
      returning sheet_id
    ), counters as (
      delete from sheet_counters c using marked
      where c.org_id = ${orgId} and c.sheet_id = marked.sheet_id
      returning c.sheet_id, c.next_seq
    )
    insert into purges as p (org_id, sheet_id, below_seq)
    select ${orgId}, sheet_id, next_seq from counters
    on conflict (org_id, sheet_id) do update set below_seq = greatest(p.below_seq, excluded.below_seq)`.execute(
    db,
  )
  return Number(numAffectedRows ?? 0n)
}
