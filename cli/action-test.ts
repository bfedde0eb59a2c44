import type { Command } from 'commander'
import { z } from 'zod'
import { findInstance } from '#server/catalog/chain/definition.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import type { Db } from '#server/database/connection/db.ts'
import { invalid, notFound } from '#server/lib/errors.ts'
import { isUuid } from '#server/lib/ids.ts'
import { plural } from '#server/lib/plural.ts'
import { readUntil } from '#server/lib/timing/read-until.ts'
import { createPriceBook } from '#server/money/prices.ts'
import { MILLIS } from '#server/money/store/credits.ts'
import { OPERATOR } from '#server/organisation/store/audit.ts'
import { withNetwork } from '#server/process/network.ts'
import { makeDraft } from '#server/runs/cell-tests/draft.ts'
import { startTest } from '#server/runs/cell-tests/start-test.ts'
import { findTest, hasTestEnded, type TestFindings, type TestRecord } from '#server/runs/store/cell-tests.ts'
import { getDefinition } from '#server/sheets/store/definitions.ts'
import { findRowIds } from '#server/sheets/store/rows.ts'
import type { SheetRecord } from '#server/sheets/store/sheets.ts'
import { CapAmount, examples } from './flags.ts'
import { formatDetails } from './output.ts'
import { inSession, type Session } from './session.ts'
import { requireSheet, SHEET, SHEET_FLAGS, SHEET_ORG } from './sheet.ts'

const Flags = z.strictObject({
  ...SHEET_FLAGS,
  action: z.string(),
  row: z.string().toLowerCase().refine(isUuid, 'must be a UUID'),
  maxCredits: CapAmount.optional(),
  keep: z.literal(true).optional(),
})

/** The time for which the command waits for a worker of the server. */
const WAIT_MS = 600_000

export function defineTest(test: Command): void {
  test
    .description('Test an action on one row; nothing of the sheet changes, and it is billed as a cell')
    .requiredOption(...SHEET)
    .requiredOption('--action <action_instance_id>', 'the action, as it is saved')
    .requiredOption('--row <row_id>', 'the row')
    .option('--max-credits <credits>', 'credit limit of the test')
    .option('--keep', 'write a complete answer into the cell')
    .option(...SHEET_ORG)
    .addHelpText(
      'after',
      examples(
        'loam actions test --sheet <sheet_id> --action verify_email_1 --row <row_id>',
        'loam actions test --sheet <sheet_id> --action verify_email_1 --row <row_id> --max-credits 1 --keep',
      ),
    )
    .action(
      inSession(Flags, async ({ db, config }, flags) => {
        const sheet = await requireSheet(db, flags)
        const test = await runTest({ db, config }, sheet, flags)
        const data = viewTest(test)
        return { data, text: () => formatTest(data) }
      }),
    )
}

async function runTest(
  { db, config }: Pick<Session, 'db' | 'config'>,
  sheet: SheetRecord,
  { action: id, row, keep, maxCredits }: z.output<typeof Flags>,
): Promise<TestRecord> {
  const catalogue = await loadCatalogue()
  const definition = await getDefinition(db, sheet)
  const action = findInstance(definition, id)
  if (action === undefined) throw invalid('action', `the sheet has no action ${id}`)
  if (!(await findRowIds(db, sheet, [row])).has(row)) throw invalid('row', 'the sheet has no such row')
  const author = { ...OPERATOR, orgId: sheet.org_id, memberId: '' }
  const testId = await withNetwork(config, async ({ egress, models }) => {
    const installation = { config, models, egress }
    const editing = { db, author, sheet, catalogue, installation, mayUse: () => true }
    const draft = await makeDraft(editing, { action, given: {} }, definition, [])
    const prices = await createPriceBook(catalogue).current(db)
    const request = { rowId: row, keep: keep === true, maxCredits: toCredits(maxCredits) }
    return startTest(db, { author, sheet, prices }, draft, request)
  })
  return waitForTest(db, sheet, testId)
}

const toCredits = (millis: number | null | undefined): number | undefined =>
  millis === null || millis === undefined ? undefined : millis / MILLIS

async function waitForTest(db: Db, sheet: SheetRecord, testId: string): Promise<TestRecord> {
  await readUntil(
    () => hasTestEnded(db, sheet.org_id, testId),
    (ended) => ended,
    { ms: WAIT_MS },
  )
  const test = await findTest(db, sheet, testId)
  if (test === undefined) throw notFound('Test')
  return test
}

function viewTest({ test_id, status, result, outputs, credits_millis, kept_at }: TestRecord) {
  if (result === null) return { test_id, status: 'running' as const }
  const { error, cached } = JSON.parse(result) as TestFindings
  return {
    test_id,
    status,
    error,
    outputs: outputs === null ? null : (JSON.parse(outputs) as unknown),
    credits: credits_millis / MILLIS,
    cache_hit: cached,
    kept: kept_at !== null,
  }
}

function formatTest(test: ReturnType<typeof viewTest>): string {
  if (test.status === 'running' || !('outputs' in test))
    return `The test is still running. GET .../test/${test.test_id} returns its answer for 24 hours.`
  return formatDetails(test.status, [
    ...(test.error === null ? [] : [['error', test.error] satisfies [string, string]]),
    ...(test.outputs === null ? [] : [['outputs', JSON.stringify(test.outputs)] satisfies [string, string]]),
    ['cost', plural(test.credits, 'credit')],
    ...(test.kept ? [['kept', 'yes'] satisfies [string, string]] : []),
  ])
}
