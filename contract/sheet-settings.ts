import { z } from 'zod'
import { DateTime, Uuid } from './envelope.ts'
import { Credits } from './numbers.ts'
import { ONLY_ROWS } from './runs.ts'
import { GivenInputs, GivenOutputs, ShortcutDetails } from './shortcuts.ts'
import { MaxCredits } from './spending.ts'
import { Storable } from './text.ts'
import { WebhookDelivery } from './webhooks.ts'

export const SHOWN_DELIVERIES = 20

export const Sharing = z.object({
  owner: z.string().nullable(),
  shared_with: z.array(z.object({ email: z.string(), name: z.string() })),
  may_share: z.boolean(),
})
/** The email address of an existing member. It is looked up, so its format is not checked. */
export const SharingBody = z.strictObject({
  email: Storable.trim().toLowerCase().min(1, 'must not be empty'),
})

export const SheetSchedule = z.object({
  cron: z.string(),
  timezone: z.string(),
  only: z.enum(ONLY_ROWS).nullable(),
  view_id: Uuid.optional().describe('The view whose rows run, in its order'),
  max_credits: Credits.nullable().describe('The credit limit of each scheduled run'),
  next_run_at: DateTime,
})
export const ScheduleBody = z.strictObject({
  cron: z.string(),
  timezone: z.string().trim().optional(),
  only: z.enum(ONLY_ROWS).optional(),
  view_id: Uuid.optional().describe('Runs the rows of a view, instead of `only`'),
  max_credits: MaxCredits.nullable().optional().describe('Unchanged when absent; null for no limit'),
})

export const SheetWebhook = z.object({
  enabled: z.boolean(),
  address: z
    .string()
    .nullable()
    .describe('Null if there is none, or if it was encrypted with another LOAM_SECRET'),
  max_credits_per_day: z
    .number()
    .nullable()
    .describe('The credit limit per day (UTC) for rows that arrive by this webhook'),
  deliveries: z.array(WebhookDelivery),
})
export const EnableWebhookBody = z.strictObject({
  new_address: z.boolean().default(false),
  max_credits_per_day: MaxCredits.nullable().optional().describe('Unchanged when absent; null for no limit'),
})

export const PublishBody = z.strictObject({
  workflow_id: Uuid,
  name: ShortcutDetails.shape.name,
  description: ShortcutDetails.shape.description.prefault(''),
  cover_image: ShortcutDetails.shape.cover_image.prefault(''),
  icon_emoji: ShortcutDetails.shape.icon_emoji.prefault(''),
  inputs: GivenInputs.optional(),
  outputs: GivenOutputs.optional(),
})
export const RepublishBody = PublishBody.pick({ inputs: true, outputs: true })

export const InvitationPage = z.object({ email: z.string(), role: z.string(), organisation: z.string() })
export const AcceptBody = z.strictObject({
  first_name: Storable.trim().max(200).optional(),
  last_name: Storable.trim().max(200).optional(),
})
