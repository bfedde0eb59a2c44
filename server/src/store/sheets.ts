import type { Selectable } from 'kysely'
import type { Db } from './db.ts'
import type { Schema } from './schema.ts'

export type WorkflowRecord = Omit<Selectable<Schema['workflows']>, 'deleted_at'>
export type SheetRecord = Omit<Selectable<Schema['sheets']>, 'deleted_at'>

/** A workflow as one member meets it. */
export type WorkflowFor = WorkflowRecord & { is_shared: boolean }

const WORKFLOW_FIELDS = [
  'workflows.org_id',
  'workflows.workflow_id',
  'workflows.name',
  'workflows.owner_id',
  'workflows.created_at',
  'workflows.updated_at',
  'workflows.last_run_at',
] as const

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

/** The living workflows of an organisation, with whether each is shared with this member. */
export function selectWorkflows(db: Db, orgId: string, memberId: string) {
  return db
    .selectFrom('workflows')
    .select(WORKFLOW_FIELDS)
    .select((eb) =>
      eb
        .exists(
          eb
            .selectFrom('workflow_shares')
            .select('workflow_shares.member_id')
            .where('workflow_shares.org_id', '=', orgId)
            .whereRef('workflow_shares.workflow_id', '=', 'workflows.workflow_id')
            .where('workflow_shares.member_id', '=', memberId),
        )
        .$castTo<boolean>()
        .as('is_shared'),
    )
    .where('workflows.org_id', '=', orgId)
    .where('workflows.deleted_at', 'is', null)
}

export async function findWorkflow(
  db: Db,
  orgId: string,
  memberId: string,
  workflowId: string,
): Promise<WorkflowFor | undefined> {
  return selectWorkflows(db, orgId, memberId)
    .where('workflows.workflow_id', '=', workflowId)
    .executeTakeFirst()
}

/** The living sheets of an organisation. */
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
