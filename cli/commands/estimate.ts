import type { Command } from 'commander'
import { z } from 'zod'
import type { Estimate } from '#contract/estimates.ts'
import { MAX_NEW_ROWS } from '#contract/estimates.ts'
import { loadCatalogue } from '#server/catalog/registry.ts'
import { invalid } from '#server/lib/errors.ts'
import { plural } from '#server/lib/plural.ts'
import { listSpendable } from '#server/money/budgets.ts'
import { makeEstimate } from '#server/money/estimates/whole-estimate.ts'
import { createPriceBook } from '#server/money/prices.ts'
import { MILLIS } from '#server/money/store/credits.ts'
import { withNetwork } from '#server/process/network.ts'
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
    .option('--all', 'every row of the sheet (the default)')
    .option('--new-rows <number>', 'estimate for this number of new rows instead of the existing ones')
    .option('--max-credits <credits>', 'check whether this limit would be enough')
    .option('--exact', 'examine every row, even above 10,000')
    .option(...SHEET_ORG)
    .addHelpText(
      'after',
      examples('loam estimate --sheet <sheet_id>', 'loam estimate --sheet <sheet_id> --new-rows 5000 --json'),
    )
    .action(
      inSession(
        Flags,
        async ({ db, config }, { action, all: isAll, newRows, maxCredits, exact, ...flags }) => {
          if (isAll === true && newRows !== undefined)
            throw invalid('all', 'cannot be combined with new-rows')
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
            const made = await makeEstimate(db, parts, {
              sheet,
              definition,
              actions: action === undefined ? all : [action],
              rows: newRows === undefined ? { kind: 'all' } : { kind: 'new', count: newRows },
              exact: exact ?? false,
            })
            return { data: made.estimate, text: () => formatEstimate(made.estimate) }
          })
        },
      ),
    )
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
