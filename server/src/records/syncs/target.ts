import type { InputColumn } from '../../catalog/chain/definition.ts'
import type { Db } from '../../database/connection/db.ts'
import { getDefinition } from '../../sheets/store/definitions.ts'
import { findSheet, type SheetRecord } from '../../sheets/store/sheets.ts'
import type { DestinationRecord } from './store/destinations.ts'

export type Target = { sheet: SheetRecord; inputs: InputColumn[] }

const MAX_NAMED = 10

/**
 * Finds the sheet of a destination. If it or a mapped input no longer exists, returns what is wrong and what to do
 * (D62).
 */
export async function findTarget(
  db: Db,
  { org_id, connection_id, workflow_id, mapping }: DestinationRecord,
): Promise<Target | { problem: string }> {
  const sheet = await findSheet(db, org_id, workflow_id)
  if (sheet === undefined) {
    return {
      problem: `Workflow ${workflow_id} no longer exists: pause its destination ${connection_id}, then resume the sync`,
    }
  }
  const { inputs } = await getDefinition(db, sheet)
  const names = new Set(inputs.map(({ name }) => name))
  const missing = mapping.filter(({ input }) => !names.has(input)).map(({ input }) => `input.${input}`)
  if (missing.length === 0) return { sheet, inputs }
  const listed = missing.slice(0, MAX_NAMED).join(', ')
  return {
    problem: `Workflow ${workflow_id} no longer has ${listed}: add the input again or sync with another mapping, then resume`,
  }
}
