import { z } from 'zod'
import { DateTime, Uuid } from './envelope.ts'
import { Email } from './members.ts'
import { Credits } from './numbers.ts'
import { boundedArray, crossCheck } from './schema-checks.ts'
import { MaxCredits } from './spending.ts'
import { Name, Storable } from './text.ts'

export const BUDGET_SCOPES = ['organisation', 'member', 'key', 'workflow', 'sheet'] as const
export const BUDGET_PERIODS = ['run', 'day', 'month', 'total'] as const
export const BUDGET_MODES = ['stop', 'warn'] as const
/** The triggers that can start spending. */
export const SPENDING_TRIGGERS = [
  'api',
  'shortcut',
  'auto_run',
  'schedule',
  'webhook',
  'source',
  'segment',
  'send_to_sheet',
  'agent',
  'test',
] as const
export type SpendingTrigger = (typeof SPENDING_TRIGGERS)[number]

/** The maximum number of budgets of an organisation. All of them are read to decide what a run may spend. */
export const MAX_BUDGETS = 1000
const MAX_THRESHOLDS = 10
const MAX_EMAILS = 20

const CHANGEABLE = {
  name: Name.max(200),
  limit: MaxCredits.describe('In credits'),
  mode: z.enum(BUDGET_MODES).describe('`stop` refuses spending beyond the limit; `warn` only sends alerts'),
  thresholds: boundedArray(z.int().min(1).max(1000), { max: MAX_THRESHOLDS })
    .refine((list) => new Set(list).size === list.length, 'must name each threshold once')
    .describe('In percent of the limit'),
  emails: boundedArray(Email, { max: MAX_EMAILS }).describe('Recipients of the alerts'),
  webhook_url: z
    .url({ protocol: /^https?$/, error: 'must be an address that begins with https:// or http://' })
    .max(2048)
    .nullable(),
}

export const CreateBudgetBody = z
  .strictObject({
    scope: z.enum(BUDGET_SCOPES),
    subject: Storable.trim()
      .min(1, 'must not be empty')
      .nullish()
      .describe("A member's email address, or the id of a key, workflow or sheet; null for the organisation"),
    trigger: z.enum(SPENDING_TRIGGERS).nullish().describe('Counts only spending started by this trigger'),
    period: z.enum(BUDGET_PERIODS),
    limit: CHANGEABLE.limit,
    name: CHANGEABLE.name.optional(),
    mode: CHANGEABLE.mode.default('stop'),
    thresholds: CHANGEABLE.thresholds.default([50, 80, 100]),
    emails: CHANGEABLE.emails.optional().describe('The administrators by default'),
    webhook_url: CHANGEABLE.webhook_url.optional(),
  })
  .check(
    crossCheck((context) => {
      const { scope, subject } = context.value
      if (!BUDGET_SCOPES.includes(scope)) return
      if ((scope === 'organisation') === (subject === undefined || subject === null)) return
      const message =
        scope === 'organisation'
          ? 'must be null: the scope is the organisation'
          : `required: name the ${scope}`
      context.issues.push({ code: 'custom', input: subject, path: ['subject'], message })
    }),
  )

export const UpdateBudgetBody = z
  .strictObject(CHANGEABLE)
  .partial()
  .refine((body) => Object.keys(body).length > 0, `needs one of ${Object.keys(CHANGEABLE).join(', ')}`)

export const Budget = z
  .object({
    budget_id: Uuid,
    name: z.string(),
    scope: z.enum(BUDGET_SCOPES),
    subject: z.string().nullable(),
    trigger: z.enum(SPENDING_TRIGGERS).nullable(),
    period: z.enum(BUDGET_PERIODS),
    limit: Credits,
    mode: z.enum(BUDGET_MODES),
    thresholds: z.array(z.int()),
    emails: z.array(z.string()),
    webhook_url: z.string().nullable(),
    spent: Credits.describe('In the current period; 0 for a budget of period `run`'),
    held: Credits,
    remaining: Credits,
    period_start: DateTime.nullable(),
    period_end: DateTime.nullable(),
    alerts: z.array(z.object({ threshold: z.int(), at: DateTime })).describe('Sent in the current period'),
    created_at: DateTime,
  })
  .meta({ id: 'Budget' })

export const CreatedBudget = Budget.extend({
  webhook_secret: z.string().describe('Signs the deliveries; shown only once'),
}).meta({ id: 'CreatedBudget' })

export const DeletedBudget = z.object({ budget_id: Uuid, deleted: z.literal(true) })
