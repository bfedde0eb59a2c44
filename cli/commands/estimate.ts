import type { Command } from 'commander'
import { z } from 'zod'
import type { Estimate } from '#contract/estimates.ts'
import { MAX_NEW_ROWS } from '#contract/estimates.ts'
import { CauseKey } from '#contract/rows.ts'
import { ONLY_CELLS, ONLY_ROWS, type OnlyCells, type OnlyRows } from '#contract/runs.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { invalid } from '#server/lib/errors.ts'
import { plural } from '#server/lib/plural.ts'
import { listSpendable } from '#server/money/budgets.ts'
import { estimatedParts } from '#server/money/estimates/estimated-parts.ts'
import { makeEstimate } from '#server/money/estimates/whole-estimate.ts'
import { createPriceBook } from '#server/money/prices.ts'
import { MILLIS } from '#server/money/store/credits.ts'
import { withNetwork } from '#server/process/network.ts'
import { chooseFromFailure } from '#server/runs/failure-starts.ts'
import { chooseOnly, type RowChoice } from '#server/runs/row-choice.ts'
import { readEnvironment } from '#server/sheets/configuration-environment.ts'
import { getDefinition } from '#server/sheets/store/definitions.ts'
import { Amount, examples } from '../flags.ts'
import { formatTable } from '../output.ts'
import { inSession } from '../session.ts'
import { requireSheet, SHEET, SHEET_FLAGS, SHEET_ORG } from '../sheet.ts'

const Flags = z.strictObject({
  ...SHEET_FLAGS,
  all: z.literal(true).optional(),
  action: z.string().optional(),
  only: z.enum([...new Set([...ONLY_ROWS, ...ONLY_CELLS])]).optional(),
  from: z.enum(['start', 'failure']).optional(),
  cause: CauseKey.optional(),
  newRows: z
    .string()
    .regex(/^\d{1,8}$/, 'must be a whole number')
    .transform(Number)
    .refine((n) => n >= 1 && n <= MAX_NEW_ROWS, `must be between 1 and ${MAX_NEW_ROWS}`)
    .optional(),
  maxCredits: Amount.optional(),
  exact: z.literal(true).optional(),
})

export function define(estimate: Command): void {
  estimate
    .description('Estimate the cost of running a sheet, expected and at most; runs nothing')
    .requiredOption(...SHEET)
    .option('--action <action_instance_id>', 'only this action')
    .option(
      '--only <rows>',
      'unfinished or failed rows; with --action: rows whose cell of it is failed, empty or empty_and_failed',
    )
    .option('--from <place>', 'start, or failure: each row from its first failed or missing cell')
    .option('--cause <key>', 'rows with a cell that failed for this cause, as List Causes shows it')
    .option('--all', 'every row of the sheet (the default)')
    .option('--new-rows <number>', 'estimate for this number of new rows instead of the existing ones')
    .option('--max-credits <credits>', 'check whether this limit would be enough')
    .option('--exact', 'examine every row, even above 10,000')
    .option(...SHEET_ORG)
    .addHelpText(
      'after',
      examples(
        'loam estimate --sheet <sheet_id>',
        'loam estimate --sheet <sheet_id> --only failed --from failure',
        'loam estimate --sheet <sheet_id> --new-rows 5000 --json',
      ),
    )
    .action(
      inSession(
        Flags,
        async (
          { db, config },
          { action, all: isAll, newRows, maxCredits, exact, only, from, cause, ...flags },
        ) => {
          if (isAll === true && newRows !== undefined)
            throw invalid('all', 'cannot be combined with new-rows')
          if ([isAll, newRows, only, cause].filter((one) => one !== undefined).length > 1)
            throw invalid('only', 'choose rows by one of --all, --new-rows, --only and --cause')
          const sheet = await requireSheet(db, flags)
          const definition = await getDefinition(db, sheet)
          const all = definition.actions.map(({ id }) => id)
          if (all.length === 0) throw invalid('sheet', 'has no action to run; add one first')
          if (action !== undefined && !all.includes(action))
            throw invalid('action', `the sheet has no action ${action}; there are: ${all.join(', ')}`)
          return withNetwork(config, async ({ egress }) => {
            const { catalogue, version } = await createPriceBook(await loadCatalogue()).current(db)
            // Only budgets that apply to every caller count here.
            const anybody = { orgId: sheet.org_id, email: null, keyId: null, trigger: 'api' as const }
            const parts = {
              catalogue,
              version,
              environment: await readEnvironment(db, sheet, { config, egress }),
              maxCredits: maxCredits === undefined ? undefined : maxCredits / MILLIS,
              budgets: await listSpendable(db, { ...anybody, sheet }),
            }
            const actions = action === undefined ? all : [action]
            const wanted = { sheet, definition, actions, exact: exact ?? false }
            const rows = chooseRows({ action, only, cause }, all)
            const [first, ...others] =
              newRows === undefined
                ? await estimatedParts(db, {
                    ...wanted,
                    rows: from === 'failure' ? chooseFromFailure(rows, actions, definition) : rows,
                  })
                : [{ ...wanted, rows: { kind: 'new' as const, count: newRows } }]
            const made = await makeEstimate(db, parts, first, ...others)
            return { data: made.estimate, text: () => formatEstimate(made.estimate) }
          })
        },
      ),
    )
}

type ChosenRows = {
  action: string | undefined
  only: OnlyRows | OnlyCells | undefined
  cause: string | undefined
}

/** Returns the rows that the flags name. */
function chooseRows({ action, only, cause }: ChosenRows, all: readonly string[]): RowChoice {
  if (cause !== undefined)
    return { kind: 'matching', selection: { filters: [], statusFilters: [], createdAt: undefined, cause } }
  if (action !== undefined && only !== undefined && only !== 'unfinished')
    return { kind: 'cells', rows: { kind: 'all' }, action, only }
  if (only === 'empty' || only === 'empty_and_failed') throw invalid('only', `${only} needs --action`)
  return chooseOnly(only, all)
}

function formatEstimate({ rows, credits, actions, limits, price_version }: z.infer<typeof Estimate>): string {
  const most = (amount: number | null) => (amount === null ? 'an unknown number' : String(amount))
  const left = limits.map(({ kind, name, remaining, covers }) => [
    name ?? kind,
    String(remaining),
    covers === 'at_most' ? 'yes' : covers === 'expected' ? 'as expected' : 'no',
  ])
  return [
    `${plural(rows, 'row')}: ${plural(credits.expected, 'credit')} expected, ${most(credits.at_most)} at most (price version ${price_version}).`,
    formatTable(
      ['ACTION', 'CELLS', 'EXPECTED', 'AT MOST'],
      actions.map((one) => [
        one.action_instance_id,
        String(one.cells),
        String(one.credits.expected),
        String(one.credits.at_most),
      ]),
      'No actions.',
    ),
    formatTable(['LIMIT', 'LEFT', 'ENOUGH'], left, 'No limits.'),
  ].join('\n\n')
}
