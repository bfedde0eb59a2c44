import type { ReferencesChanged } from '#contract/inputs.ts'
import type { Definition } from '../catalog/chain/definition.ts'
import {
  findAmbiguous,
  findRenames,
  type InputRenames,
  renameInTexts,
} from '../catalog/chain/input-renames.ts'
import { followRenames, listInputTokens } from '../catalog/configuration/input-renames.ts'
import type { Catalogue } from '../catalog/registry.ts'
import type { Db } from '../database/connection/db.ts'
import { invalid } from '../lib/errors.ts'
import type { Author } from '../organisation/changes.ts'
import { type Edit, editDefinition, type SheetState } from './store/definitions.ts'
import {
  listSheetsNaming,
  lockFollowers,
  renameInLayouts,
  renameInMappings,
} from './store/input-followers.ts'
import { isMainSheet, type SheetRecord } from './store/sheets.ts'
import { mapViewSettings } from './store/views.ts'

/** An action of another sheet that followed a rename, with the workflow that decides who may see it. */
type FollowedElsewhere = ReferencesChanged[number] & { workflow_id: string }

/** A change of a sheet's definition that may rename inputs. */
type RenamingEdit<Result> = (state: SheetState) => Made<Result> | Promise<Made<Result>>
type Made<Result> = Omit<Edit<Result>, 'definition'> & { definition?: Definition | undefined }

type Renaming = { author: Author; sheet: SheetRecord; catalogue: Catalogue }

/**
 * Lists the sheets that may name inputs of this one. It reads every chain of the organisation, so it is called before
 * anything is locked.
 */
export async function findNamingSheets(db: Db, sheet: SheetRecord): Promise<readonly string[]> {
  return (await listSheetsNaming(db, sheet)).map(({ sheet_id }) => sheet_id)
}

/**
 * Edits the inputs of a sheet, and renames them wherever they are named: in chains of other sheets, mappings of syncs, and
 * saved layouts. What began to name them meanwhile is served under the former name (`former_names`).
 */
export async function editWithFollowers<Result>(
  trx: Db,
  { author, sheet, catalogue }: Renaming,
  naming: readonly string[],
  edit: RenamingEdit<Result>,
): Promise<{ result: Result; elsewhere: FollowedElsewhere[] }> {
  const listed = naming.length === 0 ? [] : await listSheetsNaming(trx, sheet, naming)
  await lockFollowers(trx, sheet, [sheet.workflow_id, ...listed.map(({ workflow_id }) => workflow_id)])
  const { renames, result } = await editDefinition(trx, author, sheet, async (state) => {
    const { definition, ...made } = await edit(state)
    const renames = definition ? findRenames(state.definition.inputs, definition.inputs) : null
    return {
      ...made,
      ...(definition === undefined ? {} : { definition }),
      result: { renames, result: made.result },
    }
  })
  if (renames === null) return { result, elsewhere: [] }
  if (isMainSheet(sheet)) await renameInMappings(trx, sheet, renames.names)
  await renameInLayouts(trx, sheet, renames.names)
  await mapViewSettings(trx, sheet, (settings) => renameInTexts(settings, renames))
  const elsewhere: FollowedElsewhere[] = []
  // The sheets are listed again under the locks of their workflows: some may have been deleted.
  const others = listed.length === 0 ? [] : await listSheetsNaming(trx, sheet, naming)
  for (const { workflow_id, sheet_id } of others.filter((other) => isLocked(other, listed))) {
    const other = { org_id: sheet.org_id, sheet_id, workflow_id }
    const following = { sheetId: sheet.sheet_id, isOwn: false, renames, catalogue }
    // This sheet was not changed by hand, so the change is not offered to be undone there.
    const changed = await editDefinition(trx, { ...author, isSession: false }, other, ({ definition }) => {
      const followed = followRenames(definition, following)
      return {
        ...(followed.changed.length === 0 ? {} : { definition: followed.definition }),
        result: followed.changed,
      }
    })
    elsewhere.push(...changed.map((one) => ({ ...one, sheet_id, workflow_id })))
  }
  return { result, elsewhere }
}

const isLocked = (one: { workflow_id: string }, listed: readonly { workflow_id: string }[]) =>
  listed.some(({ workflow_id }) => workflow_id === one.workflow_id)

/** Renames inputs wherever the actions of their own sheet name them. Refuses a name that would change what a reference means. */
export function followInOwnChain(
  definition: Definition,
  renames: InputRenames,
  { sheet, catalogue }: Pick<Renaming, 'sheet' | 'catalogue'>,
): ReturnType<typeof followRenames> {
  const ambiguous = findAmbiguous(listInputTokens(definition, catalogue), renames)
  if (ambiguous !== undefined) {
    throw invalid('name', `with this name, ${ambiguous} would mean another input; choose another name`)
  }
  return followRenames(definition, { sheetId: sheet.sheet_id, isOwn: true, renames, catalogue })
}
