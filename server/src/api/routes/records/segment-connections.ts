import { success } from '#contract/envelope.ts'
import { STORE } from '#contract/names.ts'
import { SyncedSegment, SyncSegmentBody } from '#contract/segment-syncs.ts'
import { notFound, validationError } from '../../../lib/errors.ts'
import { connectSegment } from '../../../segment-syncs/connect.ts'
import { findSheet } from '../../../store/sheets/sheets.ts'
import { created } from '../../http/envelope.ts'
import { outsideOf } from '../../http/idempotency.ts'
import type { Api } from '../../services.ts'
import { requireWorkflow } from '../workflows/resources.ts'
import { segmentOfPath, SegmentParams } from './segments.ts'

export function segmentConnectionRoutes(api: Api): void {
  api.post(
    `/${STORE}/segments/:segment_id/sync`,
    {
      config: {
        scope: STORE,
        narrowedKeys: 'allowed',
        body: 'document',
        resource: segmentOfPath,
        spends: true,
      },
      schema: {
        tags: ['Segment syncs'],
        summary: 'Deliver the members of a segment into the main sheet of a workflow, from now on',
        params: SegmentParams,
        body: SyncSegmentBody,
        response: { 201: success(201, SyncedSegment) },
      },
    },
    async (request) => {
      const { db, caller, segment, body, warnings: unknown } = request
      const misspelt = unknown.filter(({ field }) => COSTLY.test(field))
      if (misspelt.length > 0) {
        const message = 'is not known here: nothing was synced'
        throw validationError(misspelt.map(({ field }) => ({ field, message })))
      }
      const { workflow_id } = await requireWorkflow(request, body.workflow_id.toLowerCase())
      const sheet = await findSheet(db, caller.orgId, workflow_id)
      if (sheet === undefined) throw notFound('Workflow')
      const { syncId, connectionId, isReused, warnings } = await connectSegment(
        db,
        caller,
        { segment, sheet },
        body,
        outsideOf(request),
      )
      const data = {
        sync_id: syncId,
        connection_id: connectionId,
        segment_id: segment.segment_id,
        workflow_id,
        entity_kinds: [segment.kind],
        reused_sync: isReused,
      }
      return created(data, warnings.length === 0 ? {} : { warnings })
    },
  )
}

/** A misspelt cap must not spend (M5). */
const COSTLY = /max|credit|cap|budget|limit|dry|estimate/i
