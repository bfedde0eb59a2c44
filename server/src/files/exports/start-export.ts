import type { ExportExtra, ExportFormat } from '#contract/exports.ts'
import { completeSettings } from '#contract/views.ts'
import type { Definition } from '../../catalog/chain/definition.ts'
import { type ChainView, viewChain } from '../../catalog/configuration/chain-view.ts'
import type { Catalogue } from '../../catalog/registry.ts'
import type { Db } from '../../database/connection/db.ts'
import type { ExportPlan, ExportSelection, ViewedColumn } from '../../database/connection/json-columns.ts'
import { addLongJob } from '../../database/queue/long-jobs.ts'
import type { SortKey } from '../../database/tables/selection.ts'
import type { AppError } from '../../lib/errors.ts'
import { tooManyRequests } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { plural } from '../../lib/plural.ts'
import { type Author, recordChange } from '../../organisation/changes.ts'
import { describeShown } from '../../sheets/rows/shown-columns.ts'
import { findValue } from '../../sheets/rows/value-sources.ts'
import { listDiscoveredOutputs } from '../../sheets/store/action-outputs.ts'
import { sortMatching } from '../../sheets/store/matching-rows.ts'
import type { SheetRecord } from '../../sheets/store/sheets.ts'
import type { ViewRecord } from '../../sheets/store/views.ts'
import { countRunningExports, type ExportRecord, insertExport } from '../store/exports.ts'

export type ExportRequest = {
  sheet: SheetRecord
  definition: Definition
  selection: ExportSelection
  format: ExportFormat
  file_name: string
  include: ExportExtra[]
  bom: boolean
  /** The order of the rows. */
  sort: SortKey[]
  /** The view that names the columns. */
  view: ViewRecord | undefined
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
  { sheet, definition, include, bom, sort, view, selection, ...wanted }: ExportRequest,
): Promise<ExportRecord> {
  const { org_id, sheet_id } = sheet
  const export_id = newId()
  const chain = viewChain(definition, catalogue, await listDiscoveredOutputs(db, sheet))
  const viewed = view === undefined ? {} : { view: listViewed(view, chain) }
  const plan = { ...planColumns(chain), ...viewed, include, bom }
  const details = { export_id, format: wanted.format }
  return recordChange(db, author, { action: 'sheet.exported', target: sheet_id, details }, async (trx) => {
    const running = await countRunningExports(trx, org_id)
    if (running >= limit) throw tooManyExports(running, limit)
    await addLongJob(trx, { lanes: 'exports', name: 'export_sheet' }, { org_id, export_id })
    const order = sort.length === 0 ? {} : { order: await orderRows(trx, sheet, selection, sort) }
    const asked = { ...wanted, plan, selection: { ...selection, ...order } }
    return insertExport(trx, { org_id, export_id, sheet_id, member_id: author.memberId, ...asked })
  })
}

function tooManyExports(running: number, limit: number): AppError {
  const message = `Your organisation has ${plural(running, 'export')} under way, and its limit is ${limit} (LOAM_EXPORTS_PER_ORG). Wait until one has ended, then ask again`
  return tooManyRequests(message, RETRY_SECONDS)
}

/** Stores the order of the selected rows until the export has been built. */
async function orderRows(
  trx: Db,
  sheet: SheetRecord,
  { rowIds: _ids, excludeRowIds: _excluded, createdAt, ...selection }: ExportSelection,
  sort: readonly SortKey[],
): Promise<{ order_id: string; total: number }> {
  const { order_id, total } = await sortMatching(
    trx,
    sheet,
    { ...selection, createdAt },
    { sort, isKept: true },
  )
  return { order_id, total }
}

/** Lists the columns of a view that the sheet still has. */
function listViewed({ settings }: ViewRecord, chain: ChainView): ViewedColumn[] {
  return completeSettings(settings).columns.flatMap((column): ViewedColumn[] => {
    const { variable, action_instance_id: action, path, hidden } = column
    const look = hidden === true ? { hidden } : {}
    if (action !== undefined && path === undefined) return [{ action, ...look }]
    const shown = describeShown(column, chain)
    if (shown !== undefined) return [{ ...shown.source, header: shown.name, ...look }]
    const source = variable === undefined ? undefined : findValue(variable, chain)?.source
    return source === undefined ? [] : [{ ...source, ...look }]
  })
}

function planColumns({ definition, links }: ChainView): ExportPlan {
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
