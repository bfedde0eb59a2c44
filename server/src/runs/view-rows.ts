import type { Definition } from '../catalog/chain/definition.ts'
import { viewChain } from '../catalog/configuration/chain-view.ts'
import type { Catalogue } from '../catalog/registry.ts'
import type { Db } from '../database/connection/db.ts'
import { isEmptySelection, toSelection, toSortKeys, withinView } from '../sheets/rows/selections.ts'
import { listDiscoveredOutputs } from '../sheets/store/action-outputs.ts'
import type { SheetRecord } from '../sheets/store/sheets.ts'
import { findView } from '../sheets/store/views.ts'
import { findGoneParts } from '../sheets/views.ts'
import { type RowChoice, sortChoice } from './row-choice.ts'

type ViewedSheet = { sheet: SheetRecord; definition: Definition; catalogue: Catalogue }

/**
 * Chooses the rows of a view, in its order, for a run that nobody asked for just now. Returns the reason in words if the view cannot
 * be used.
 */
export async function chooseViewRows(
  trx: Db,
  { sheet, definition, catalogue }: ViewedSheet,
  viewId: string,
): Promise<RowChoice | string> {
  const view = await findView(trx, sheet, viewId)
  if (view === undefined) return 'its view does not exist any more'
  const chain = viewChain(definition, catalogue, await listDiscoveredOutputs(trx, sheet))
  const gone = findGoneParts(view, chain)
  if (gone !== undefined) return gone.details.errors?.[0]?.message ?? gone.message
  const selection = withinView(toSelection({}, chain), view.settings, chain)
  const rows: RowChoice = isEmptySelection(selection) ? { kind: 'all' } : { kind: 'matching', selection }
  const sort = toSortKeys(view.settings.sort ?? [], chain)
  return sort.length === 0 ? rows : sortChoice(trx, sheet, rows, sort)
}
