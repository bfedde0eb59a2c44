import type { Warning } from '#contract/envelope.ts'
import type { EntityKind } from '#contract/records.ts'
import type { SyncSegmentBody } from '#contract/segment-syncs.ts'
import { type Db, inTransaction } from '../../database/connection/db.ts'
import { AppError, invalid, notFound } from '../../lib/errors.ts'
import { toMillis } from '../../money/caps.ts'
import { type Actor, recordAudit } from '../../organisation/store/audit.ts'
import { getDefinition } from '../../sheets/store/definitions.ts'
import type { SheetRecord } from '../../sheets/store/sheets.ts'
import { evaluateSegments } from '../segments/evaluate.ts'
import { readMapping, warnOfUnknownFields } from './mapping.ts'
import { putDestination } from './store/destinations.ts'
import { changeSync, lockSync, putSync } from './store/syncs.ts'

const MAX_EVALUATION_MS = 20_000
const RETRY_SECONDS = 15

type Segment = { org_id: string; segment_id: string; kind: EntityKind }
export type Connected = { syncId: string; connectionId: string; isReused: boolean; warnings: Warning[] }

/** Returns the stored mapping. Throws a 400 with its errors. */
export async function checkConnection(
  db: Db,
  { segment, sheet }: { segment: Segment; sheet: SheetRecord },
  body: Pick<SyncSegmentBody, 'field_mapping'>,
) {
  const { inputs } = await getDefinition(db, sheet)
  if (inputs.length === 0) {
    throw invalid('workflow_id', 'must be a workflow with at least one input; add one first')
  }
  const mapping = readMapping(body.field_mapping, inputs)
  return { mapping, warnings: await warnOfUnknownFields(db, segment.org_id, segment.kind, mapping) }
}

/**
 * Makes the main sheet of a workflow a destination of a segment. A segment has one sync, and a workflow is one
 * destination in it: a second call replaces mapping and modes and delivers no member again.
 */
export async function connectSegment(
  db: Db,
  actor: Actor,
  { segment, sheet, body }: { segment: Segment; sheet: SheetRecord; body: SyncSegmentBody },
  /** The connection for evaluating the segment. That work is kept even if the call fails. */
  outside: Db = db,
): Promise<Connected> {
  const { org_id, segment_id } = segment
  const { workflow_id } = sheet
  const { mapping, warnings } = await checkConnection(db, { segment, sheet }, body)
  // Current members count as existing, also if the segment was not evaluated since they became members.
  await evaluateNow(outside, org_id, segment_id)
  return inTransaction(db, async (trx) => {
    const created_by = actor.email
    const put = await putSync(trx, { org_id, segment_id, created_by })
    if (put === undefined) throw notFound('Segment')
    const { sync_id, isNew } = put
    const key = { org_id, sync_id }
    const sync = await lockSync(trx, key)
    if (sync === undefined) throw notFound('Segment')
    const { run, reentry_mode, push_existing: pushExisting } = body
    const max_credits_millis = body.max_credits === undefined ? null : toMillis(body.max_credits)
    const modes = { run, reentry_mode, max_credits_millis }
    const destination = { ...key, workflow_id, mapping, ...modes, created_by, pushExisting }
    const connectionId = await putDestination(trx, { ...destination, lastSeq: sync.last_seq })
    if (pushExisting) await changeSync(trx, key, sync.state, { due: true })
    const details = {
      sync_id,
      workflow_id,
      fields: body.field_mapping,
      push_existing: pushExisting,
      run,
      reentry_mode,
    }
    await recordAudit(trx, org_id, actor, { action: 'segment.synced', target: segment_id, details })
    return { syncId: sync_id, connectionId, isReused: !isNew, warnings }
  })
}

/**
 * Evaluates a segment. With a new filter over a large store this may take longer than a caller waits; the work so far
 * is kept.
 */
export async function evaluateNow(db: Db, orgId: string, segmentId: string): Promise<void> {
  const signal = AbortSignal.timeout(MAX_EVALUATION_MS)
  if (await evaluateSegments(db, orgId, segmentId, { isOver: () => signal.aborted, signal })) return
  const message = 'The segment is still being evaluated; try again in a moment'
  throw new AppError('Service Unavailable', message, { retryAfter: RETRY_SECONDS })
}
