import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Uuid } from '#contract/envelope.ts'
import { ErrorBody } from '#contract/errors.ts'
import { STORE } from '#contract/names.ts'
import { ListSegmentsQuery, SegmentChanges, SegmentChangesQuery, SegmentPage } from '#contract/segments.ts'
import type { Api } from '../../api/services.ts'
import { notFound } from '../../lib/errors.ts'
import { readFeed } from '../segments/feed.ts'
import { findSegment, listSegments, type SegmentRecord } from '../segments/store/segments.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The segment named in the path. Set by `segmentOfPath`. */
    segment: SegmentRecord
  }
}

const tags = ['Segments']

export const SegmentParams = z.object({ segment_id: Uuid })

export async function segmentOfPath(request: FastifyRequest): Promise<void> {
  const { segment_id } = request.params as z.infer<typeof SegmentParams>
  const { caller, db } = request
  const found = await findSegment(db, { org_id: caller.orgId, segment_id: segment_id.toLowerCase() })
  if (found === undefined) throw notFound('Segment')
  request.segment = found
}

export function segmentRoutes(api: Api): void {
  api.get(
    `/${STORE}/observe/segments`,
    {
      config: { scope: STORE, narrowedKeys: 'allowed' },
      schema: {
        tags,
        summary: 'List the segments of the record store',
        querystring: ListSegmentsQuery,
        response: { 200: SegmentPage },
      },
    },
    async ({ db, caller, query: { limit, offset } }) => {
      const { segments, total } = await listSegments(db, caller.orgId, { limit, offset })
      return { status: 200 as const, data: segments.map(printSegment), pagination: { limit, offset, total } }
    },
  )

  api.post(
    `/${STORE}/observe/segments/:segment_id/changes`,
    {
      config: { scope: STORE, narrowedKeys: 'allowed', body: 'control', resource: segmentOfPath },
      schema: {
        tags,
        summary:
          'List who entered and left a segment after a number of the feed; the response has no envelope',
        params: SegmentParams,
        querystring: SegmentChangesQuery,
        response: {
          200: SegmentChanges,
          409: ErrorBody.describe('The filter changed, or is being evaluated'),
          410: ErrorBody.describe('The number is too old or was never issued: restart with since=0'),
        },
      },
    },
    async ({ db, segment, query }) => readFeed(db, segment, query),
  )
}

export function printSegment(segment: SegmentRecord) {
  return {
    id: segment.segment_id,
    name: segment.name,
    entityKind: segment.kind,
    filter: segment.filter,
    filterHash: segment.filter_hash,
    memberCount: segment.member_count,
    createdAt: segment.created_at.toISOString(),
    updatedAt: segment.updated_at.toISOString(),
  }
}
