import type { ExportExtra, ExportFormat } from '#contract/exports.ts'
import { viewChain } from '../catalog/configuration/chain-view.ts'
import type { Catalogue } from '../catalog/registry.ts'
import type { Definition } from '../chain/definition.ts'
import { newId } from '../lib/ids.ts'
import type { Db } from '../store/connection/db.ts'
import type { ExportPlan, ExportSelection } from '../store/connection/json-columns.ts'
import { type ExportRecord, insertExport } from '../store/files/exports.ts'
import { addJob } from '../store/queue/jobs.ts'
import { listDiscoveredOutputs } from '../store/sheets/action-outputs.ts'
import type { SheetRecord } from '../store/sheets/sheets.ts'
import { type Author, recordChange } from './changes.ts'

export type ExportRequest = {
  sheet: SheetRecord
  definition: Definition
  selection: ExportSelection
  format: ExportFormat
  file_name: string
  include: ExportExtra[]
  bom: boolean
}

/** Records what is to be exported and queues the work, together. */
export async function startExport(
  db: Db,
  author: Author,
  catalogue: Catalogue,
  { sheet, definition, include, bom, ...wanted }: ExportRequest,
): Promise<ExportRecord> {
  const { org_id, sheet_id } = sheet
  const export_id = newId()
  const plan = { ...(await planColumns(db, sheet, definition, catalogue)), include, bom }
  const details = { export_id, format: wanted.format }
  return recordChange(db, author, { action: 'sheet.exported', target: sheet_id, details }, async (trx) => {
    await addJob(trx, 'export_sheet', { org_id, export_id })
    return insertExport(trx, { org_id, export_id, sheet_id, member_id: author.memberId, plan, ...wanted })
  })
}

async function planColumns(
  db: Db,
  sheet: SheetRecord,
  definition: Definition,
  catalogue: Catalogue,
): Promise<ExportPlan> {
  const { links } = viewChain(definition, catalogue, await listDiscoveredOutputs(db, sheet))
  return {
    inputs: definition.inputs.map(({ name, column }) => ({ name, column })),
    actions: definition.actions.map(({ id, display_name }) => {
      const link = links.get(id)
      const outputs = link?.outputs.map(({ name }) => name) ?? []
      return { id, name: display_name, outputs, open: link?.template?.dynamic ?? true }
    }),
  }
}
