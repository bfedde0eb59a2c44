import type { Db } from '../database/connection/db.ts'
import { notFound } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import { type Author, recordChange, recordCreation } from '../organisation/changes.ts'
import {
  announceNames,
  insertSheet,
  markSheetsDeleted,
  nextPosition,
  type SheetRecord,
  type SheetSettings,
  updateSheet,
} from './store/sheets.ts'
import { touchWorkflow } from './store/workflows.ts'

/** Creates a sheet, which its creator owns (D58). Settings that are not given are off (D15). */
export async function createSheet(
  db: Db,
  author: Author,
  workflow_id: string,
  given: { name: string } & Partial<SheetSettings>,
): Promise<SheetRecord> {
  const { orgId: org_id, memberId: owner_id } = author
  const sheet_id = newId()
  const entry = { action: 'sheet.created', target: sheet_id, details: { ...given, workflow_id } }
  return recordCreation(db, author, entry, async (trx) => {
    await touchWorkflow(trx, org_id, workflow_id)
    const position = await nextPosition(trx, org_id, workflow_id)
    const made = await insertSheet(trx, author, {
      ...given,
      org_id,
      sheet_id,
      workflow_id,
      position,
      owner_id,
    })
    await announceNames(trx, org_id, workflow_id)
    return made
  })
}

/** Changes the settings or the name of a sheet. Existing rows are not touched. */
export async function changeSheet(
  db: Db,
  author: Author,
  sheet: SheetRecord,
  change: { name: string } | Partial<SheetSettings>,
): Promise<SheetRecord> {
  const action = 'name' in change ? 'sheet.renamed' : 'sheet.updated'
  const entry = { action, target: sheet.sheet_id, details: change }
  return recordChange(db, author, entry, async (trx) => {
    await touchWorkflow(trx, author.orgId, sheet.workflow_id)
    const changed = await updateSheet(trx, sheet, change)
    await announceNames(trx, author.orgId, sheet.workflow_id)
    return changed
  })
}

export async function deleteSheet(db: Db, author: Author, sheet: SheetRecord): Promise<void> {
  const { sheet_id, workflow_id, name } = sheet
  const entry = { action: 'sheet.deleted', target: sheet_id, details: { name, workflow_id } }
  await recordChange(db, author, entry, async (trx) => {
    await touchWorkflow(trx, author.orgId, workflow_id)
    if ((await markSheetsDeleted(trx, author.orgId, [sheet_id])) === 0) throw notFound('Sheet')
    await announceNames(trx, author.orgId, workflow_id)
  })
}
