import { z } from 'zod'
import { SPENDING_TRIGGERS } from './budgets.ts'
import { Uuid } from './envelope.ts'
import { Credits } from './numbers.ts'

export const USAGE_GROUPS = [
  'day',
  'month',
  'workflow',
  'sheet',
  'action',
  'provider',
  'member',
  'key',
  'trigger',
] as const
export type UsageGroup = (typeof USAGE_GROUPS)[number]

export const MAX_USAGE_GROUPS = 3
export const MAX_USAGE_ROWS = 100_000

const Day = z.iso.date({ error: 'must be a day such as 2026-03-01' })

const splitNames = (text: string): string[] => text.split(',').map((name) => name.trim())

export const GroupBy = z
  .string()
  .refine((text) => splitNames(text).every((name) => (USAGE_GROUPS as readonly string[]).includes(name)), {
    error: `must be some of: ${USAGE_GROUPS.join(', ')}, separated by commas`,
    abort: true,
  })
  .transform(splitNames)
  .pipe(
    z
      .array(z.enum(USAGE_GROUPS))
      .min(1)
      .max(MAX_USAGE_GROUPS, `takes at most ${MAX_USAGE_GROUPS} groups`)
      .refine((groups) => new Set(groups).size === groups.length, 'must name each group once'),
  )

export const UsageQuery = z
  .object({
    from: Day.optional().describe('A day (UTC), inclusive; 30 days to `to` by default'),
    to: Day.optional().describe('A day (UTC), inclusive; today by default'),
    group_by: GroupBy.default(['day']).describe(
      `Up to ${MAX_USAGE_GROUPS} of ${USAGE_GROUPS.join(', ')}, separated by commas`,
    ),
    workflow_id: Uuid.optional(),
    action_id: z.string().optional(),
    provider: z.string().optional(),
    member: z.string().optional().describe('The email address'),
    key_id: Uuid.optional(),
    trigger: z.enum(SPENDING_TRIGGERS).optional(),
    format: z.enum(['json', 'csv']).default('json'),
  })
  .refine(({ from, to }) => from === undefined || to === undefined || from <= to, {
    path: ['from'],
    error: 'must not be after `to`',
  })

const FIGURES = {
  cells: z.int().describe('Cells that finished'),
  cells_billed: z.int(),
  cells_cached: z.int().describe('Cells that used a cached answer'),
  credits: Credits.describe('Charged'),
  refunded: Credits.describe('Returned to the balance'),
  saved_by_cache: Credits.describe('Credits saved by cached answers'),
  saved_by_own_keys: Credits.describe('Credits saved by your own provider keys, by the price list'),
}

export const UsageRow = z
  .object({
    day: z.string(),
    month: z.string(),
    workflow_id: Uuid.nullable(),
    workflow_name: z.string().nullable(),
    sheet_id: Uuid.nullable(),
    action_id: z.string().nullable(),
    provider: z
      .string()
      .nullable()
      .describe('Null without a provider. A cell counts for the provider that answered it'),
    member: z.string().nullable(),
    key_id: Uuid.nullable(),
    trigger: z.string().nullable(),
  })
  .partial()
  .extend(FIGURES)
  .meta({ id: 'UsageRow' })

export const Usage = z
  .object({
    from: z.string(),
    to: z.string(),
    group_by: z.array(z.enum(USAGE_GROUPS)),
    rows: z.array(UsageRow),
    totals: z.object(FIGURES),
  })
  .meta({ id: 'Usage' })
