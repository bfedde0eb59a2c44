import { isAlike, restoreDefinition } from '../catalog/chain/edit.ts'
import { findRenames } from '../catalog/chain/input-renames.ts'
import { followRenames } from '../catalog/configuration/input-renames.ts'
import type { Db } from '../database/connection/db.ts'
import { AppError } from '../lib/errors.ts'
import { recordChange } from '../organisation/changes.ts'
import type { ChainEditing } from './chain-edit.ts'
import { editWithFollowers, findNamingSheets } from './input-renames.ts'
import { findDefinition, listEpochs, listRevisions, type Revision } from './store/definitions.ts'
import type { SheetRecord } from './store/sheets.ts'

/** Undoes one change of inputs and actions. It is refused if they were changed since, because that change would be lost. */
export async function restoreSheetDefinition(
  { db, author, sheet, catalogue }: ChainEditing,
  { from, to }: { from: number; to: number },
): Promise<number> {
  const { org_id, sheet_id } = sheet
  const entry = { action: 'definition.restored', target: sheet_id, details: { from, to } }
  const naming = await findNamingSheets(db, sheet)
  const { result } = await recordChange(db, author, entry, (trx) =>
    editWithFollowers(trx, { author, sheet, catalogue }, naming, async ({ definition, revision }) => {
      const left = await findDefinition(trx, { org_id, sheet_id, revision: from })
      const earlier = await findDefinition(trx, { org_id, sheet_id, revision: to })
      if (left === undefined || earlier === undefined) {
        throw new AppError('Gone', 'This change is too old to be undone')
      }
      if (!isAlike(definition, left)) {
        throw new AppError(
          'Conflict',
          'Inputs or actions were changed since, so this change cannot be undone',
        )
      }
      const epochs = await listEpochs(trx, { org_id, sheet_id })
      // Under the names of the earlier definition, so that an input that gets its former name back makes no result stale.
      const renames = findRenames(definition.inputs, earlier.inputs)
      const following = { sheetId: sheet_id, isOwn: true, catalogue }
      const current =
        renames === null ? definition : followRenames(definition, { ...following, renames }).definition
      return { definition: restoreDefinition(current, earlier, epochs), result: revision + 1 }
    }),
  )
  return result
}

const MAX_LISTED = 30

export type DefinitionStep = { from: number; to: number; made_at: Date }

/**
 * Lists changes of inputs and actions that somebody made in the dashboard: those to undo (the latest first) and, of those
 * undone, those to redo (the next first). A change of somebody else, or of a program, ends both lists, because it would be
 * lost.
 */
export async function listDefinitionSteps(
  db: Db,
  sheet: SheetRecord,
  email: string,
): Promise<{ past: DefinitionStep[]; future: DefinitionStep[] }> {
  const { done, undone } = replay(await listRevisions(db, sheet, MAX_LISTED))
  const isTheirs = ({ created_by, by_session }: Revision) => by_session && created_by === email
  const past: DefinitionStep[] = []
  for (const [at, after] of [...done.entries()].toReversed()) {
    const before = done[at - 1]
    if (before === undefined || !isTheirs(after)) break
    past.push({ from: after.revision, to: before.revision, made_at: after.created_at })
  }
  const future: DefinitionStep[] = []
  let current = done.at(-1)
  for (const after of undone.toReversed()) {
    if (current === undefined || !isTheirs(after)) break
    future.push({ from: current.revision, to: after.revision, made_at: after.created_at })
    current = after
  }
  return { past, future }
}

/**
 * Finds out which revisions were undone. Undoing makes a new revision: one that equals the revision before the latest has
 * undone the latest.
 */
function replay(revisions: readonly Revision[]): { done: Revision[]; undone: Revision[] } {
  const done: Revision[] = []
  let undone: Revision[] = []
  for (const next of revisions) {
    const [before, latest, taken] = [done.at(-2), done.at(-1), undone.at(-1)]
    if (before !== undefined && latest !== undefined && isAlike(next.definition, before.definition)) {
      undone.push(latest)
      done.splice(-2, 2, { ...before, revision: next.revision })
    } else if (taken !== undefined && isAlike(next.definition, taken.definition)) {
      undone.pop()
      done.push({ ...taken, revision: next.revision })
    } else {
      done.push(next)
      undone = []
    }
  }
  return { done, undone }
}
