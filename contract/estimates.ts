import { z } from 'zod'
import { Uuid } from './envelope.ts'
import { Credits } from './numbers.ts'
import { checkExcluded, countSelectors, Excluded, RowSelectors } from './row-selectors.ts'
import { From, ONLY_CELLS, ONLY_ROWS } from './runs.ts'
import { crossCheck } from './schema-checks.ts'
import { MaxCredits } from './spending.ts'

export const MAX_NEW_ROWS = 10_000_000

const SELECTORS =
  '`row_ids`, `first_10: true`, `all: true`, `only`, `new_rows`, or `filters` / `status_filters` / `created_at` / `cause` / `view_id`'

export const EstimateBody = z
  .strictObject({
    ...RowSelectors,
    ...Excluded,
    only: z
      .enum([...new Set([...ONLY_ROWS, ...ONLY_CELLS])])
      .optional()
      .describe(
        'The rows that Run All Rows runs with the same `only`; with `action_instance_id`, those that Run Action runs',
      ),
    from: From,
    new_rows: z.int().min(1).max(MAX_NEW_ROWS).optional().describe('A number of rows that do not exist yet'),
    action_instance_id: z.string().min(1).optional().describe('Only this action, as Run Action runs it'),
    run_next_action: z.boolean().default(false).describe('Include the actions after it'),
    max_credits: MaxCredits.optional(),
    exact: z.boolean().default(false).describe('Read every row, even if there are more than 10,000'),
  })
  .check(
    crossCheck((context) => {
      checkExcluded(context)
      const { all, only, new_rows, action_instance_id } = context.value
      if ((only === 'empty' || only === 'empty_and_failed') && action_instance_id === undefined) {
        const message = `\`${only}\` needs action_instance_id`
        context.issues.push({ code: 'custom', input: only, path: ['only'], message })
      }
      const others = [all, only, new_rows].filter((part) => part !== undefined).length
      const given = countSelectors(context.value) + others
      // For one action, `only` narrows another selector.
      if (
        given === 1 ||
        (given === 2 && only !== undefined && action_instance_id !== undefined && new_rows === undefined)
      )
        return
      const message =
        given === 0 ? `needs a selector: ${SELECTORS}` : `takes exactly one selector: ${SELECTORS}`
      context.issues.push({ code: 'custom', input: context.value, path: [], message })
    }),
  )

const Bound = z.object({ expected: Credits, at_most: Credits })
const OpenBound = z.object({ expected: Credits, at_most: Credits.nullable() })

export const Estimate = z
  .object({
    rows: z.int(),
    revision: z.int(),
    price_version: z.int(),
    precision: z.enum(['exact', 'sampled']),
    cells: z.object({
      total: z.int(),
      cached: z.int(),
      own_key: z.int(),
      free: z.int(),
      skipped: z.int(),
      billable: z.int(),
    }),
    credits: OpenBound.extend({ saved_by_cache: Credits, saved_by_own_keys: Credits }),
    actions: z.array(
      z.object({
        action_instance_id: z.string(),
        action_id: z.string(),
        cells: z.int(),
        credits: Bound,
        basis: z.enum(['history', 'list_price']),
        providers: z.array(
          z.object({
            provider: z.string(),
            credits: Credits,
            miss_credits: Credits,
            own_key: z.boolean(),
            configured: z.boolean(),
            hit_rate: z.number().nullable(),
            expected: Credits,
            at_most: Credits,
          }),
        ),
      }),
    ),
    downstream: z.array(
      z.object({
        sheet_id: z.string(),
        via: z.string(),
        rows: z.int().nullable(),
        expected: Credits,
        at_most: Credits.nullable(),
      }),
    ),
    balance: z.object({
      now: Credits,
      held: Credits,
      after_expected: Credits,
      after_at_most: Credits.nullable(),
    }),
    limits: z.array(
      z.object({
        kind: z.enum(['max_credits', 'budget', 'balance']),
        budget_id: Uuid.optional(),
        name: z.string().optional(),
        remaining: Credits,
        covers: z.enum(['at_most', 'expected', 'none']),
      }),
    ),
  })
  .meta({ id: 'Estimate' })
