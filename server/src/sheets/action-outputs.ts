import { isDeepStrictEqual } from 'node:util'
import type { OutputDescriptor } from '#contract/actions.ts'
import type { ActionInstance } from '../catalog/chain/definition.ts'
import { describeOutputs, discoverOutputs, learnsFromRuns, outputsOf } from '../catalog/describe.ts'
import type { Db } from '../database/connection/db.ts'
import { isObject } from '../lib/json/object.ts'
import { recordChange } from '../organisation/changes.ts'
import type { ChainEditing } from './chain-edit.ts'
import { findLatestOutputs, listDiscoveredOutputs, putDiscoveredOutputs } from './store/action-outputs.ts'
import type { SheetRecord } from './store/sheets.ts'

/**
 * Returns the outputs of an action after reading the latest row that it completed on; outputs found there are stored (D35). A
 * dynamic action that never ran has no outputs except those that its configuration names (D74).
 */
export async function discoverActionOutputs(
  { db, author, sheet, catalogue }: ChainEditing,
  action: ActionInstance,
): Promise<OutputDescriptor[]> {
  const { id, action_id, inputs } = action
  const template = catalogue.get(action_id)
  if (template === undefined) return []
  if (!learnsFromRuns(template)) return describeOutputs(template, action)
  const [latest, known] = await Promise.all([findLatestOutputs(db, sheet, id), findKnown(db, sheet, id)])
  if (!isObject(latest)) {
    const isUnknown = template.dynamic && known === undefined && !outputsOf(template, inputs).areNamed
    return isUnknown ? [] : describeOutputs(template, action, known)
  }
  const seen = discoverOutputs(latest)
  if (!isDeepStrictEqual(seen, known)) {
    const details = { action_instance_id: id, outputs: seen.map(({ name }) => name) }
    const entry = { action: 'action.outputs_discovered', target: sheet.sheet_id, details }
    await recordChange(db, author, entry, (trx) => putDiscoveredOutputs(trx, sheet, id, seen))
  }
  return describeOutputs(template, action, seen)
}

async function findKnown(db: Db, sheet: SheetRecord, id: string) {
  return (await listDiscoveredOutputs(db, sheet)).get(id)
}
