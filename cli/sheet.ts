import { z } from 'zod'
import type { Db } from '#server/database/connection/db.ts'
import { notFound } from '#server/lib/errors.ts'
import { isUuid } from '#server/lib/ids.ts'
import { findSheetById, type SheetRecord } from '#server/sheets/store/sheets.ts'
import { Org } from './flags.ts'

/** The schema of the flags of commands about one sheet. */
export const SHEET_FLAGS = {
  org: Org,
  sheet: z
    .string()
    .toLowerCase()
    .refine(
      isUuid,
      'must be a UUID; the main sheet has the id of the workflow, as `loam workflow list` shows it',
    ),
}

/** The same flags in the form of commander. */
export const SHEET = ['--sheet <sheet_id>', 'the sheet; for the main sheet the id of its workflow'] as const
export const SHEET_ORG = ['--org <org_id>', 'organisation of the sheet, as a check'] as const

export async function requireSheet(
  db: Db,
  { sheet: sheetId, org }: { sheet: string; org?: string | undefined },
): Promise<SheetRecord> {
  const sheet = await findSheetById(db, sheetId)
  if (sheet === undefined || (org !== undefined && org !== sheet.org_id)) throw notFound(`Sheet ${sheetId}`)
  return sheet
}
