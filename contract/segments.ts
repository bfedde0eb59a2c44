import { z } from 'zod'
import { DateTime, Uuid } from './envelope.ts'
import { wholeNumber } from './numbers.ts'
import { EntityKind } from './records.ts'

const MAX_SEGMENTS = 100
export const MAX_CHANGES = 1000

export const ListSegmentsQuery = z.strictObject({
  limit: wholeNumber(1, MAX_SEGMENTS).default(MAX_SEGMENTS),
  offset: wholeNumber(0, 1_000_000_000).default(0),
})

/** A segment. Its keys are spelled as in the change feed (D80). */
export const SegmentSummary = z
  .object({
    id: Uuid.describe('Used as `segment_id`'),
    name: z.string(),
    entityKind: EntityKind,
    filter: z.unknown().describe('Condition groups as in `run_if.conditions`, with field names as variables'),
    filterHash: z.string(),
    memberCount: z.int(),
    createdAt: DateTime,
    updatedAt: DateTime,
  })
  .meta({ id: 'Segment' })

export const SegmentPage = z.object({
  status: z.literal(200),
  data: z.array(SegmentSummary).describe('Oldest first'),
  pagination: z.object({ limit: z.int(), offset: z.int(), total: z.int() }),
})

export const SegmentChangesQuery = z.strictObject({
  since: wholeNumber(0, 9_999_999_999)
    .exactOptional()
    .describe(
      '`nextSince` of the last response; 0 returns only changes from now on; if absent, starts at the oldest change',
    ),
  limit: wholeNumber(1, MAX_CHANGES).default(MAX_CHANGES),
  filterHash: z
    .string()
    .max(200)
    .exactOptional()
    .describe('The filter hash that the client knows; if the filter has changed since, the response is 409'),
})

export const SegmentChanges = z
  .object({
    segmentId: Uuid,
    filterHash: z
      .string()
      .describe('Changes with the filter; members before and after are then not comparable'),
    changes: z.array(
      z.object({
        seq: z.int().describe('In order, without gaps'),
        entityId: Uuid,
        kind: z.enum(['enter', 'exit', 'reenter']),
        at: DateTime,
      }),
    ),
    hasMore: z.boolean(),
    nextSince: z.int(),
  })
  .meta({ id: 'SegmentChanges' })
export type SegmentChanges = z.infer<typeof SegmentChanges>
