import { notFound } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { recordAudit } from '../store/audit.ts'
import { type Db, inTransaction } from '../store/db.ts'
import {
  insertSheet,
  markSheetsDeleted,
  nextPosition,
  type SheetRecord,
  type SheetSettings,
  updateSheet,
} from '../store/sheets.ts'
import { touchWorkflow } from '../store/workflows.ts'
import type { Author } from './workflows.ts'

/** Owned by whoever makes it (D58); settings that are not given are off (D15). */
export async function createSheet(
  db: Db,
  author: Author,
  workflowId: string,
  given: { name: string } & Partial<SheetSettings>,
): Promise<SheetRecord> {
  const { orgId: org_id, memberId: owner_id } = author
  return inTransaction(db, async (trx) => {
    await touchWorkflow(trx, org_id, workflowId)
    const position = await nextPosition(trx, org_id, workflowId)
    const ids = { org_id, sheet_id: newId(), workflow_id: workflowId }
    const sheet = await insertSheet(trx, author, { ...given, ...ids, position, owner_id })
    await recordAudit(trx, org_id, author, {
      action: 'sheet.created',
      target: sheet.sheet_id,
      details: { ...given, workflow_id: workflowId },
    })
    return sheet
  })
}

/** Settings or the name of the tab. Rows that are there already are not touched. */
export async function changeSheet(
  db: Db,
  author: Author,
  sheet: SheetRecord,
  change: { name: string } | Partial<SheetSettings>,
): Promise<SheetRecord> {
  const { orgId } = author
  return inTransaction(db, async (trx) => {
    await touchWorkflow(trx, orgId, sheet.workflow_id)
    const changed = await updateSheet(trx, sheet, change)
    await recordAudit(trx, orgId, author, {
      action: 'name' in change ? 'sheet.renamed' : 'sheet.updated',
      target: sheet.sheet_id,
      details: change,
    })
    return changed
  })
}

export async function deleteSheet(db: Db, author: Author, sheet: SheetRecord): Promise<void> {
  const { orgId } = author
  const { sheet_id, workflow_id, name } = sheet
  await inTransaction(db, async (trx) => {
    await touchWorkflow(trx, orgId, workflow_id)
    if ((await markSheetsDeleted(trx, orgId, [sheet_id])) === 0) throw notFound('Sheet')
    await recordAudit(trx, orgId, author, {
      action: 'sheet.deleted',
      target: sheet_id,
      details: { name, workflow_id },
    })
  })
}
