import { success } from '#contract/envelope.ts'
import { STORE } from '#contract/names.ts'
import { SyncedSegment, SyncSegmentBody } from '#contract/segment-syncs.ts'
import { created } from '../../api/http/envelope.ts'
import { getOutsideDb } from '../../api/http/idempotency.ts'
import type { Api } from '../../api/services.ts'
import { notFound } from '../../lib/errors.ts'
import { answerArrivals, DRY_RUN_ANSWER, type EstimateServices } from '../../money/routes/dry-runs.ts'
import { countRunning } from '../../runs/arrivals.ts'
import { requireWorkflow } from '../../sheets/routes/workflows/resources.ts'
import { findSheet } from '../../sheets/store/sheets.ts'
import { findSegment } from '../segments/store/segments.ts'
import { checkConnection, connectSegment, evaluateNow } from '../syncs/connect.ts'
import { segmentOfPath, SegmentParams } from './segments.ts'

export function segmentConnectionRoutes(api: Api, services: EstimateServices): void {
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
        response: { 200: DRY_RUN_ANSWER, 201: success(201, SyncedSegment) },
      },
    },
    async (request) => {
      const { db, caller, segment, body } = request
      const { workflow_id } = await requireWorkflow(request, body.workflow_id.toLowerCase())
      const sheet = await findSheet(db, caller.orgId, workflow_id)
      if (sheet === undefined) throw notFound('Workflow')
      if (body.dry_run === true) {
        const checked = await checkConnection(db, { segment, sheet }, body)
        request.warnings.push(...checked.warnings)
        // Memberships are kept up to date anyway, so the evaluation stays even if the call fails.
        await evaluateNow(getOutsideDb(request), caller.orgId, segment.segment_id)
        const current = await findSegment(db, segment)
        const rows = body.push_existing ? (current?.member_count ?? 0) : 0
        const given = { maxCredits: body.max_credits, trigger: 'segment' as const }
        return answerArrivals(request, services, given, {
          sheet,
          rows: countRunning(sheet, body.run, { rows }),
        })
      }
      const { syncId, connectionId, isReused, warnings } = await connectSegment(
        db,
        caller,
        { segment, sheet, body },
        getOutsideDb(request),
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
