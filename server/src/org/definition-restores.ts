import { isAlike, restoreDefinition } from '../chain/edit.ts'
import { AppError } from '../lib/errors.ts'
import type { Db } from '../store/connection/db.ts'
import { editDefinition, findDefinition, listEpochs } from '../store/sheets/definitions.ts'
import type { SheetRecord } from '../store/sheets/sheets.ts'
import { type Author, recordChange } from './changes.ts'

/** Takes one change of inputs and actions back. Refused when somebody changed them since: that would be lost with it. */
export async function restoreSheetDefinition(
  db: Db,
  author: Author,
  sheet: SheetRecord,
  { from, to }: { from: number; to: number },
): Promise<number> {
  const { org_id, sheet_id } = sheet
  const entry = { action: 'definition.restored', target: sheet_id, details: { from, to } }
  return recordChange(db, author, entry, (trx) =>
    editDefinition(trx, author, sheet, async ({ definition, revision }) => {
      const left = await findDefinition(trx, { org_id, sheet_id, revision: from })
      const earlier = await findDefinition(trx, { org_id, sheet_id, revision: to })
      if (left === undefined || earlier === undefined) {
        throw new AppError('Gone', 'This change is too old to be taken back')
      }
      if (!isAlike(definition, left)) {
        throw new AppError('Conflict', 'Inputs or actions were changed since, so this cannot be taken back')
      }
      const epochs = await listEpochs(trx, { org_id, sheet_id })
      return { definition: restoreDefinition(definition, earlier, epochs), result: revision + 1 }
    }),
  )
}
