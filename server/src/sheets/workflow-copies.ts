import type { ActionInstance, Definition } from '../catalog/chain/definition.ts'
import { mapStrings } from '../catalog/chain/reference-walk.ts'
import type { Db } from '../database/connection/db.ts'
import { notFound } from '../lib/errors.ts'
import { newId } from '../lib/ids.ts'
import type { Sealer } from '../lib/security/secrets.ts'
import { type Author, recordCreation } from '../organisation/changes.ts'
import { copyWebhook } from '../runs/webhooks/webhooks.ts'
import { getDefinition } from './store/definitions.ts'
import { findSheet, insertSheet, listSheets, nextPosition, type SheetRecord } from './store/sheets.ts'
import { copyViews } from './store/views.ts'
import { insertWorkflow, lockWorkflow, touchWorkflow } from './store/workflows.ts'

export type Copy = { workflow_id: string; name: string }

/**
 * Copies the sheets of a workflow with their definitions and settings; the author owns them. Rows, runs and sharing are not
 * copied.
 */
export async function duplicateWorkflow(
  db: Db,
  author: Author,
  sealer: Sealer,
  { sourceId, name }: { sourceId: string; name: string },
): Promise<Copy> {
  const { orgId: org_id, memberId: owner_id } = author
  const workflow_id = newId()
  return recordCreation(db, author, describeCopy({ workflow_id, name }, sourceId), async (trx) => {
    await lockWorkflow(trx, org_id, sourceId)
    const sources = await listSheets(trx, org_id, sourceId)
    const copyIds = new Map(
      sources.map(({ sheet_id }) => [sheet_id, sheet_id === sourceId ? workflow_id : newId()]),
    )
    await insertWorkflow(trx, { org_id, workflow_id, name, owner_id })
    for (const source of sources)
      await copySheet(trx, author, sealer, { source, copyIds, changes: { workflow_id } })
    return { workflow_id, name }
  })
}

/** Copies a child sheet. The copy joins the same workflow as its last sheet (D46). */
export async function duplicateSheet(
  db: Db,
  author: Author,
  sealer: Sealer,
  { sheet_id, workflow_id, name }: SheetRecord & { name: string },
): Promise<Copy> {
  const { orgId } = author
  const copyId = newId()
  const copy = { workflow_id: copyId, name }
  return recordCreation(db, author, describeCopy(copy, sheet_id), async (trx) => {
    await touchWorkflow(trx, orgId, workflow_id)
    const source = await findSheet(trx, orgId, sheet_id)
    if (source === undefined) throw notFound('Sheet')
    const position = await nextPosition(trx, orgId, workflow_id)
    const changes = { workflow_id, name, position }
    await copySheet(trx, author, sealer, { source, copyIds: new Map([[sheet_id, copyId]]), changes })
    return copy
  })
}

async function copySheet(
  trx: Db,
  author: Author,
  sealer: Sealer,
  {
    source,
    copyIds,
    changes,
  }: {
    source: SheetRecord
    copyIds: ReadonlyMap<string, string>
    changes: { workflow_id: string; name?: string; position?: number }
  },
): Promise<void> {
  const { revision: _revision, created_at: _created, ...copied } = source
  const sheet_id = copyIds.get(source.sheet_id)
  if (sheet_id === undefined) throw new Error(`the copy of sheet ${source.sheet_id} has no id`)
  const definition = copyDefinition(await getDefinition(trx, source), copyIds)
  const copy = { ...copied, ...changes, sheet_id, owner_id: author.memberId }
  await insertSheet(trx, author, copy, definition)
  await copyViews(trx, { from: source, to: copy, ownerId: author.memberId })
  await copyWebhook(trx, author, sealer, { from: source, to: copy })
}

function copyDefinition(source: Definition, copyIds: ReadonlyMap<string, string>): Definition {
  return {
    inputs: source.inputs,
    actions: source.actions.map((action) => ({
      ...action,
      inputs: replaceSheetIds(action.inputs, copyIds),
      epoch: 0,
    })),
  }
}

/** Replaces ids of copied sheets, such as in `target_sheet_id`, by the ids of the copies. Ids of other sheets stay. */
function replaceSheetIds(
  inputs: ActionInstance['inputs'],
  copyIds: ReadonlyMap<string, string>,
): ActionInstance['inputs'] {
  const replaced = mapStrings(inputs, (text) => copyIds.get(text.toLowerCase()) ?? text)
  // Strings became strings, so the shape is unchanged.
  return replaced as ActionInstance['inputs']
}

function describeCopy(copy: Copy, source: string) {
  return { action: 'workflow.duplicated', target: copy.workflow_id, details: { name: copy.name, source } }
}
