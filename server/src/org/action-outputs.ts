import type { OutputDescriptor } from '#contract/actions.ts'
import { describeOutputs, discoverOutputs, learnsFromRuns } from '../catalog/describe.ts'
import { isObject } from '../catalog/field.ts'
import type { ActionInstance } from '../chain/definition.ts'
import { findLatestOutputs, listDiscoveredOutputs, putDiscoveredOutputs } from '../store/action-outputs.ts'
import { recordAudit } from '../store/audit.ts'
import { inTransaction } from '../store/db.ts'
import type { Workbench } from './chain-edit.ts'

/**
 * The outputs of an action, after a look at the latest row it completed on; what is seen there is kept (D35). A dynamic
 * action that never ran has none to name.
 */
export async function discoverActionOutputs(
  { db, author, sheet, catalogue }: Workbench,
  { id, action_id }: ActionInstance,
): Promise<OutputDescriptor[]> {
  const template = catalogue.get(action_id)
  if (template === undefined) return []
  if (!learnsFromRuns(template)) return describeOutputs(template, id)
  const latest = await findLatestOutputs(db, sheet, id)
  if (!isObject(latest)) {
    const known = (await listDiscoveredOutputs(db, sheet)).get(id)
    return template.dynamic && known === undefined ? [] : describeOutputs(template, id, known)
  }
  const seen = discoverOutputs(latest)
  await inTransaction(db, async (trx) => {
    if (!(await putDiscoveredOutputs(trx, sheet, id, seen))) return
    await recordAudit(trx, author.orgId, author, {
      action: 'action.outputs_discovered',
      target: sheet.sheet_id,
      details: { action_instance_id: id, outputs: seen.map(({ name }) => name) },
    })
  })
  return describeOutputs(template, id, seen)
}
