import type { ActionInstance } from '../../catalog/chain/definition.ts'
import type { Db } from '../../database/connection/db.ts'
import { inTransaction } from '../../database/connection/db.ts'
import { AppError, tooManyRequests } from '../../lib/errors.ts'
import { newId } from '../../lib/ids.ts'
import { parseLossless } from '../../lib/json/lossless-json.ts'
import { openCap, toCap } from '../../money/caps.ts'
import type { PricedCatalogue } from '../../money/prices.ts'
import type { Author } from '../../organisation/changes.ts'
import { recordAudit } from '../../organisation/store/audit.ts'
import type { SheetRecord } from '../../sheets/store/sheets.ts'
import { admitTest, findTest, isRowInFlight, keepAnswer, type TestRecord } from '../store/cell-tests.ts'
import { type Draft, isSameConfiguration } from './draft.ts'

/** The most tests that an organisation may have under way. */
export const MAX_TESTS_AT_ONCE = 10
const RETRY_SECONDS = 1

export const cannotKeep = (why: string): AppError =>
  new AppError('CANNOT_KEEP', `The answer cannot be kept: ${why}`)

const NOT_SAVED = 'the action was tested with a configuration that is not saved. Save it first'
const IN_FLIGHT = 'a run has this row now. Keep the answer when the run is finished'

export type TestRequest = { rowId: string; keep: boolean; maxCredits: number | undefined }

/** Enqueues a test, and refuses one that is to be kept and cannot be. Returns its id. */
export async function startTest(
  db: Db,
  { author, sheet, prices }: { author: Author; sheet: SheetRecord; prices: Pick<PricedCatalogue, 'version'> },
  { instance, isSaved, warnings }: Draft,
  { rowId, keep, maxCredits }: TestRequest,
): Promise<string> {
  const { org_id, sheet_id, revision } = sheet
  if (keep && !isSaved) throw cannotKeep(NOT_SAVED)
  if (keep && (await isRowInFlight(db, org_id, rowId))) throw cannotKeep(IN_FLIGHT)
  const test_id = newId()
  await inTransaction(db, async (trx) => {
    const cap_purse_id = await openCap(trx, org_id, toCap(maxCredits).cap)
    const test = {
      org_id,
      sheet_id,
      test_id,
      row_id: rowId,
      revision,
      instance: JSON.stringify(instance),
      is_saved: isSaved,
      keep,
      member: author.email,
      key_id: author.keyId,
      price_version: prices.version,
      cap_purse_id,
      warnings,
    }
    if (await admitTest(trx, test, MAX_TESTS_AT_ONCE)) return
    throw tooManyRequests(
      `Your organisation already has ${MAX_TESTS_AT_ONCE} tests under way. Wait for one of them to end`,
      RETRY_SECONDS,
    )
  })
  return test_id
}

export const readTestedAction = ({ instance }: Pick<TestRecord, 'instance'>): ActionInstance =>
  parseLossless(instance) as ActionInstance

/** Writes the answer of a finished test into its cell, if the action is still configured as it was tested. */
export async function keepTest(
  db: Db,
  { author, sheet, action }: { author: Author; sheet: SheetRecord; action: ActionInstance },
  testId: string,
): Promise<TestRecord | null> {
  const test = await findTest(db, sheet, testId)
  if (test === undefined || readTestedAction(test).id !== action.id) return null
  if (test.result === null) throw cannotKeep('the test is still running')
  if (test.status !== 'complete')
    throw cannotKeep(`the test ended as ${test.status}, and only a complete answer can be kept`)
  if (!isSameConfiguration(readTestedAction(test), action)) throw cannotKeep(NOT_SAVED)
  await inTransaction(db, async (trx) => {
    if (!(await keepAnswer(trx, sheet, testId)))
      throw cannotKeep(
        (await isRowInFlight(trx, sheet.org_id, test.row_id)) ? IN_FLIGHT : 'the row was deleted',
      )
    const details = { row_id: test.row_id, action_instance_id: action.id, test_id: testId }
    await recordAudit(trx, sheet.org_id, author, { action: 'cell.kept', target: sheet.sheet_id, details })
  })
  return test
}
