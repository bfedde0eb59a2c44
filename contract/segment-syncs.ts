import { z } from 'zod'
import { DateTime, Uuid } from './envelope.ts'
import { EntityKind } from './records.ts'
import { DryRun, MaxCredits } from './spending.ts'
import { Storable } from './text.ts'

export const SYNC_STATES = ['active', 'paused_error', 'pending_confirmation', 'deleted'] as const
export const DESTINATION_STATES = ['active', 'paused'] as const
export const HELD_REASONS = ['filter_changed', 'flood'] as const
export const RUN_MODES = ['all', 'none'] as const
export const REENTRY_MODES = ['suppress', 'repush'] as const

const MAX_FIELD = 200

export const SyncSegmentBody = z.strictObject({
  workflow_id: Uuid.describe('A workflow with at least one input'),
  field_mapping: z
    .record(z.string(), Storable.min(1, 'must not be empty').max(MAX_FIELD))
    .describe(
      'Maps input references, such as `input.company` without braces, to fields or identifiers of the members',
    ),
  push_existing: z.boolean().default(false).describe('Also deliver the current members'),
  run: z
    .enum(RUN_MODES)
    .default('none')
    .describe('Which delivered rows run; a sheet with `auto_run` runs all of them'),
  max_credits: MaxCredits.optional().describe(
    'The credit limit for the rows delivered in one cycle, including rows that they send to other sheets',
  ),
  dry_run: DryRun,
  reentry_mode: z
    .enum(REENTRY_MODES)
    .default('suppress')
    .describe(
      '`suppress` delivers a member only once, even if it leaves and returns; `repush` delivers it at every re-entry',
    ),
})
export type SyncSegmentBody = z.output<typeof SyncSegmentBody>

export const SyncedSegment = z
  .object({
    sync_id: Uuid,
    connection_id: Uuid.describe('The destination'),
    segment_id: Uuid,
    workflow_id: Uuid,
    entity_kinds: z.array(EntityKind),
    reused_sync: z.boolean().describe('True if the segment already had a sync'),
  })
  .meta({ id: 'SyncedSegment' })

const count = (words: string) => z.int().nonnegative().describe(words)

export const SegmentSync = z
  .object({
    sync_id: Uuid,
    segment_id: Uuid,
    state: z.enum(SYNC_STATES),
    entity_kinds: z.array(EntityKind),
    held_count: count('Members that wait for confirmation'),
    held_reason: z.enum(HELD_REASONS).nullable(),
    last_import_error: z.object({ message: z.string(), at: DateTime }).nullable(),
    last_cycle_at: DateTime.nullable(),
    destinations: z.array(
      z.object({
        connection_id: Uuid,
        workflow_id: Uuid,
        state: z.enum(DESTINATION_STATES),
        run: z.enum(RUN_MODES),
        reentry_mode: z.enum(REENTRY_MODES),
        delivered: count('Members delivered so far; each re-entry of `repush` counts'),
        pending: count('Members that the next cycle delivers, or the backlog of a paused destination'),
        held: count('Members that wait for confirmation'),
        failed: count('Members whose delivery failed; each cycle retries them'),
      }),
    ),
  })
  .meta({ id: 'SegmentSync' })
export type SegmentSync = z.infer<typeof SegmentSync>

const Choice = z
  .enum(['push', 'skip'])
  .describe('`push` delivers the waiting members; `skip` drops them permanently')
export type Choice = z.infer<typeof Choice>

export const ConfirmBody = z.strictObject({ choice: Choice })
export const ResumeDestinationBody = z
  .strictObject({ choice: Choice.default('push') })
  .prefault({})
  .describe('What to do with the members that joined during the pause')
