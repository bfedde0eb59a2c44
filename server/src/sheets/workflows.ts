import { type Db, inTransaction } from '../database/connection/db.ts'
import { invalid, notFound } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { type Author, recordChange, recordCreation } from '../organisation/changes.ts'
import { type Actor, recordAudit } from '../organisation/store/audit.ts'
import { findMember } from '../organisation/store/members.ts'
import { lockMembers } from '../organisation/store/organisations.ts'
import { announceNames, insertSheet, listSheets, markSheetsDeleted } from './store/sheets.ts'
import { deleteShare, insertShare, insertWorkflow, touchWorkflow, findWorkflow } from './store/workflows.ts'

export type { Author } from '../organisation/changes.ts'

/** Creates a workflow with its main sheet, which has the workflow's id and, at first, its name. */
export async function createWorkflow(
  db: Db,
  author: Author,
  name: string,
): Promise<{ workflow_id: string; name: string; created_at: Date }> {
  const { orgId: org_id, memberId: owner_id } = author
  const workflow_id = newId()
  const entry = { action: 'workflow.created', target: workflow_id, details: { name } }
  return recordCreation(db, author, entry, async (trx) => {
    const { created_at } = await insertWorkflow(trx, { org_id, workflow_id, name, owner_id })
    await insertSheet(trx, author, {
      org_id,
      sheet_id: workflow_id,
      workflow_id,
      name,
      position: 0,
      owner_id,
    })
    return { workflow_id, name, created_at }
  })
}

export async function renameWorkflow(
  db: Db,
  author: Author,
  workflowId: string,
  name: string,
): Promise<void> {
  const entry = { action: 'workflow.renamed', target: workflowId, details: { name } }
  await recordChange(db, author, entry, async (trx) => {
    await touchWorkflow(trx, author.orgId, workflowId, { name })
    await announceNames(trx, author.orgId, workflowId)
  })
}

export async function deleteWorkflow(
  db: Db,
  author: Author,
  { workflow_id, name }: { workflow_id: string; name: string },
): Promise<void> {
  const { orgId } = author
  const entry = { action: 'workflow.deleted', target: workflow_id, details: { name } }
  await recordChange(db, author, entry, async (trx) => {
    await touchWorkflow(trx, orgId, workflow_id, { deleted_at: new Date() })
    const sheets = await listSheets(trx, orgId, workflow_id)
    await markSheetsDeleted(
      trx,
      orgId,
      sheets.map((sheet) => sheet.sheet_id),
    )
  })
}

export type Sharing = { orgId: string; workflowId: string; email: string }

/** Shares a workflow with a member of the same organisation, or ends the sharing. A repeated call changes nothing. */
export async function setSharing(db: Db, actor: Actor, to: Sharing, shared: boolean): Promise<void> {
  const { orgId, workflowId, email } = to
  await inTransaction(db, async (trx) => {
    await lockMembers(trx, orgId)
    const member = await findMember(trx, orgId, email)
    if (member === undefined) throw notFound(`Member ${email}`)
    const workflow = await findWorkflow(trx, orgId, member.member_id, workflowId)
    if (workflow === undefined) throw notFound(`Workflow ${workflowId}`)
    if (shared && workflow.owner_id === member.member_id)
      throw invalid('email', 'belongs to the member who owns this workflow already')
    const share = { org_id: orgId, workflow_id: workflowId, member_id: member.member_id }
    const changed = shared ? await insertShare(trx, share) : await deleteShare(trx, share)
    if (!changed) return
    await recordAudit(trx, orgId, actor, {
      action: shared ? 'workflow.shared' : 'workflow.unshared',
      target: workflowId,
      details: { email },
    })
  })
}
