import type { ExportExtra, ExportFormat } from '#contract/exports.ts'
import type { Definition } from '../../catalog/chain/definition.ts'
import { viewChain } from '../../catalog/configuration/chain-view.ts'
import type { Catalogue } from '../../catalog/registry.ts'
import type { Db } from '../../database/connection/db.ts'
import type { ExportPlan, ExportSelection } from '../../database/connection/json-columns.ts'
import { addLongJob } from '../../database/queue/long-jobs.ts'
import type { AppError } from '../../lib/errors.ts'
import { tooManyRequests } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { plural } from '../../lib/plural.ts'
import { type Author, recordChange } from '../../organisation/changes.ts'
import { listDiscoveredOutputs } from '../../sheets/store/action-outputs.ts'
import type { SheetRecord } from '../../sheets/store/sheets.ts'
import { countRunningExports, type ExportRecord, insertExport } from '../store/exports.ts'

export type ExportRequest = {
  sheet: SheetRecord
  definition: Definition
  selection: ExportSelection
  format: ExportFormat
  file_name: string
  include: ExportExtra[]
  bom: boolean
}

const RETRY_SECONDS = 5

/**
 * Records an export and queues its job in one transaction. `limit` is the maximum number of running exports of the
 * organisation.
 */
export async function startExport(
  db: Db,
  author: Author,
  { catalogue, limit }: { catalogue: Catalogue; limit: number },
  { sheet, definition, include, bom, ...wanted }: ExportRequest,
): Promise<ExportRecord> {
  const { org_id, sheet_id } = sheet
  const export_id = newId()
  const plan = { ...(await planColumns(db, sheet, definition, catalogue)), include, bom }
  const details = { export_id, format: wanted.format }
  return recordChange(db, author, { action: 'sheet.exported', target: sheet_id, details }, async (trx) => {
    const running = await countRunningExports(trx, org_id)
    if (running >= limit) throw tooManyExports(running, limit)
    await addLongJob(trx, { lanes: 'exports', name: 'export_sheet' }, { org_id, export_id })
    return insertExport(trx, { org_id, export_id, sheet_id, member_id: author.memberId, plan, ...wanted })
  })
}

function tooManyExports(running: number, limit: number): AppError {
  const message = `Your organisation has ${plural(running, 'export')} under way, and its limit is ${limit} (LOAM_EXPORTS_PER_ORG). Wait until one has ended, then ask again`
  return tooManyRequests(message, RETRY_SECONDS)
}

async function planColumns(
  db: Db,
  sheet: SheetRecord,
  definition: Definition,
  catalogue: Catalogue,
): Promise<ExportPlan> {
  const { links } = viewChain(definition, catalogue, await listDiscoveredOutputs(db, sheet))
  return {
    inputs: definition.inputs.map(({ name, column, type }) => ({
      name,
      column,
      isNumber: type === 'number',
      ...(type === 'date' || type === 'boolean' ? { as: type } : {}),
    })),
    actions: definition.actions.map(({ id, display_name }) => {
      const link = links.get(id)
      const known = link?.outputs ?? []
      const outputs = known.map(({ name }) => name)
      const numbers = known.filter(({ type }) => type === 'number').map(({ name }) => name)
      return { id, name: display_name, outputs, numbers, open: link?.template?.dynamic ?? true }
    }),
  }
}
