import { type ActionInstance, type Definition, findInstance } from '../catalog/chain/definition.ts'
import { type ChainView, viewChain } from '../catalog/configuration/chain-view.ts'
import type { Catalogue } from '../catalog/registry.ts'
import { type Db, inTransaction } from '../database/connection/db.ts'
import { notFound } from '../lib/errors.ts'
import type { Author } from '../organisation/changes.ts'
import { recordAudit } from '../organisation/store/audit.ts'
import { shareLockOrganisation } from '../organisation/store/organisations.ts'
import { listDiscoveredOutputs } from './store/action-outputs.ts'
import { editDefinition, type SheetState } from './store/definitions.ts'
import type { SheetRecord } from './store/sheets.ts'

/** The chain to edit, the author of the edit, and the catalogue of actions. */
export type ChainEditing = { db: Db; author: Author; sheet: SheetRecord; catalogue: Catalogue }

/** The result of an edit. The same definition means that nothing changed, and then nothing is recorded. */
export type ChainEdit<Result> = {
  definition: Definition
  actionSerials?: Record<string, number>
  audit: { action: string; details: Record<string, unknown> }
  result: Result
}

/** The context of an edit. `view` returns the chain as it would be with another definition. */
export type EditContext = {
  trx: Db
  chain: ChainView
  state: SheetState
  view: (next: Definition) => ChainView
}

/**
 * Edits a chain in one transaction under the locks of `editDefinition`, with the outputs of actions that runs have
 * discovered.
 */
export async function editChain<Result>(
  { db, author, sheet, catalogue }: ChainEditing,
  edit: (context: EditContext) => ChainEdit<Result> | Promise<ChainEdit<Result>>,
): Promise<Result> {
  return inTransaction(db, async (trx) => {
    // `recordChange` takes this lock by writing its entry first. Here it is only known later whether there is an entry.
    await shareLockOrganisation(trx, author.orgId)
    const made = await editDefinition(trx, author, sheet, async (state) => {
      const discovered = await listDiscoveredOutputs(trx, sheet)
      const view = (definition: Definition) => viewChain(definition, catalogue, discovered)
      const chain = view(state.definition)
      const { definition, actionSerials, ...made } = await edit({ trx, chain, state, view })
      const changed = definition !== state.definition
      return {
        ...(changed ? { definition } : {}),
        ...(actionSerials === undefined ? {} : { actionSerials }),
        result: { ...made, changed },
      }
    })
    if (made.changed) {
      await recordAudit(trx, author.orgId, author, { ...made.audit, target: sheet.sheet_id })
    }
    return made.result
  })
}

/** Returns the action of the path. It existed a moment ago, but another request may have removed it since. */
export function requireAction({ definition }: ChainView, id: string): ActionInstance {
  const action = findInstance(definition, id)
  if (action === undefined) throw notFound('Action')
  return action
}
