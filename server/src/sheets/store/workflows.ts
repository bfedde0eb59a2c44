import { type Selectable, sql, type Updateable } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import type { Schema } from '../../database/connection/schema.ts'
import { AppError, notFound } from '../../lib/errors.ts'

export type WorkflowRecord = Omit<Selectable<Schema['workflows']>, 'deleted_at'>

/** A workflow as one member sees it. */
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

/** Selects the workflows of an organisation that are not deleted, and whether each is shared with this member. */
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

/** Lists workflows, most recently updated first. */
export async function listWorkflows(db: Db, orgId: string, memberId: string): Promise<WorkflowFor[]> {
  return selectWorkflows(db, orgId, memberId)
    .orderBy('workflows.updated_at', 'desc')
    .orderBy('workflows.workflow_id', 'desc')
    .execute()
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

export type NewWorkflow = { org_id: string; workflow_id: string; name: string; owner_id: string }

/** The number of workflows of an organisation. It is limited because they are listed all at once. */
const MAX_WORKFLOWS = 20_000

export async function insertWorkflow(
  db: Db,
  { org_id, workflow_id, name, owner_id }: NewWorkflow,
): Promise<{ created_at: Date }> {
  const { rows } = await sql<{ created_at: Date }>`
    insert into workflows (org_id, workflow_id, name, owner_id)
    select ${org_id}::uuid, ${workflow_id}::uuid, ${name}::text, ${owner_id}::uuid
    where ${MAX_WORKFLOWS} > (select count(*) from (
      select from workflows where org_id = ${org_id} and deleted_at is null limit ${sql.lit(MAX_WORKFLOWS)}) living)
    returning created_at`.execute(db)
  const [made] = rows
  if (made !== undefined) return made
  throw new AppError(
    'Conflict',
    `Your organisation has ${MAX_WORKFLOWS} workflows, which is the limit; delete some workflows first`,
  )
}

/**
 * Locks a workflow. Every change inside a workflow takes this lock first, then those of its sheets, so that changes neither
 * overlap nor cause a deadlock.
 */
export async function lockWorkflow(db: Db, orgId: string, workflowId: string): Promise<void> {
  const locked = await db
    .selectFrom('workflows')
    .select('workflow_id')
    .where('org_id', '=', orgId)
    .where('workflow_id', '=', workflowId)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (locked === undefined) throw notFound('Workflow')
}

/** Marks a workflow as updated, as any change of its configuration does. Takes the lock of `lockWorkflow`. */
export async function touchWorkflow(
  db: Db,
  orgId: string,
  workflowId: string,
  change: Pick<Updateable<Schema['workflows']>, 'name' | 'deleted_at'> = {},
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('workflows')
    // Not now(): another change may have been committed since this transaction began.
    .set({ ...change, updated_at: sql<Date>`clock_timestamp()` })
    .where('org_id', '=', orgId)
    .where('workflow_id', '=', workflowId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw notFound('Workflow')
}

export async function listWorkflowsOwnedBy(
  db: Db,
  orgId: string,
  memberId: string,
): Promise<{ workflow_id: string; name: string }[]> {
  return db
    .selectFrom('workflows')
    .select(['workflow_id', 'name'])
    .where('org_id', '=', orgId)
    .where('owner_id', '=', memberId)
    .where('deleted_at', 'is', null)
    .orderBy('workflow_id')
    .execute()
}

export type OwnedWorkflow = { workflow_id: string; name: string; updated_at: Date; owner: string | null }

/** Lists every workflow of an organisation with its owner's address, most recently updated first. It is for the operator. */
export async function listOwnedWorkflows(db: Db, orgId: string): Promise<OwnedWorkflow[]> {
  return db
    .selectFrom('workflows')
    .leftJoin('members', (join) =>
      join
        .onRef('members.org_id', '=', 'workflows.org_id')
        .onRef('members.member_id', '=', 'workflows.owner_id'),
    )
    .select(['workflow_id', 'name', 'updated_at', 'members.email as owner'])
    .where('workflows.org_id', '=', orgId)
    .where('deleted_at', 'is', null)
    .orderBy('updated_at', 'desc')
    .orderBy('workflow_id', 'desc')
    .execute()
}

/** Finds the organisation of a workflow by the workflow's id alone, for the operator. */
export async function findOrganisationOfWorkflow(db: Db, workflowId: string): Promise<string | undefined> {
  const found = await db
    .selectFrom('workflows')
    .select('org_id')
    .where('workflow_id', '=', workflowId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return found?.org_id
}

export type Share = { org_id: string; workflow_id: string; member_id: string }

/** Shares a workflow. Returns true if it was not shared before. */
export async function insertShare(db: Db, share: Share): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('workflow_shares')
    .values(share)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** Lists the members whom a workflow is shared with, by address. */
export async function listShares(
  db: Db,
  orgId: string,
  workflowId: string,
): Promise<{ email: string; first_name: string | null; last_name: string | null }[]> {
  return db
    .selectFrom('workflow_shares as s')
    .innerJoin('members as m', (join) =>
      join.onRef('m.org_id', '=', 's.org_id').onRef('m.member_id', '=', 's.member_id'),
    )
    .select(['m.email', 'm.first_name', 'm.last_name'])
    .where('s.org_id', '=', orgId)
    .where('s.workflow_id', '=', workflowId)
    .orderBy('m.email')
    .execute()
}

/** Ends the sharing. Returns true if the workflow was shared before. */
export async function deleteShare(db: Db, share: Share): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('workflow_shares')
    .where('org_id', '=', share.org_id)
    .where('workflow_id', '=', share.workflow_id)
    .where('member_id', '=', share.member_id)
    .executeTakeFirst()
  return numDeletedRows === 1n
}

/** Lists the addresses that a workflow is shared with, sorted. */
export async function listSharedEmails(db: Db, orgId: string, workflowId: string): Promise<string[]> {
  const members = await db
    .selectFrom('workflow_shares')
    .innerJoin('members', (join) =>
      join
        .onRef('members.org_id', '=', 'workflow_shares.org_id')
        .onRef('members.member_id', '=', 'workflow_shares.member_id'),
    )
    .select('members.email')
    .where('workflow_shares.org_id', '=', orgId)
    .where('workflow_shares.workflow_id', '=', workflowId)
    .execute()
  return members.map((member) => member.email).sort()
}
