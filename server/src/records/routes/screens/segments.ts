import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { success, successWithWarnings, Uuid } from '#contract/envelope.ts'
import { STORE } from '#contract/names.ts'
import { SegmentMembers, SegmentMembersQuery } from '#contract/screens.ts'
import {
  CreateSegmentBody,
  DeleteSegmentQuery,
  PreviewSegmentBody,
  RecordField,
  RecordFieldsQuery,
  SegmentPreview,
  UpdateSegmentBody,
} from '#contract/segment-forms.ts'
import { SegmentSummary } from '#contract/segments.ts'
import { created, ok } from '../../../api/http/envelope.ts'
import { getOutsideDb } from '../../../api/http/idempotency.ts'
import type { Api } from '../../../api/services.ts'
import { AppError } from '../../../lib/errors.ts'
import { describeEntities } from '../../entity.ts'
import { evaluateSegments, readFilter } from '../../segments/evaluate.ts'
import { checkFilter, listFilterFields, listUnknownFields } from '../../segments/filter-check.ts'
import { previewFilter } from '../../segments/preview.ts'
import { createSegment, removeSegment, requireSegment, updateSegment } from '../../segments/segments.ts'
import { listMembers } from '../../segments/store/members.ts'
import { findEntities } from '../../store/entities.ts'
import { fitEntities } from '../../store/search.ts'
import { findSyncOfSegment } from '../../syncs/store/syncs.ts'
import { printSegment, segmentOfPath, SegmentParams } from '../segments.ts'

/** The maximum time that a request waits for members. A worker continues the segment each minute. */
const MAX_WAIT_MS = 3000
const SAMPLED = 5
/** The maximum size of the fields on one page of members. */
const MAX_PAGE_BYTES = 8 * 1024 ** 2

const config = { scope: STORE, body: 'document', numberTexts: ['values'] } as const

const ofPath = { ...config, resource: segmentOfPath }

/** Creates and changes segments. Reading and syncing them is part of the public API. */
export function segmentSettings(api: Api): void {
  defineFields(api)
  definePreview(api)
  defineCreate(api)
  defineUpdate(api)
  defineDelete(api)
  defineMembers(api)
}

function defineFields(api: Api): void {
  api.get(
    '/record-fields',
    {
      config: { scope: STORE },
      schema: { querystring: RecordFieldsQuery, response: { 200: success(200, z.array(RecordField)) } },
    },
    async ({ db, caller, query }) => ok(await listFilterFields(db, caller.orgId, query.kind)),
  )
}

function definePreview(api: Api): void {
  api.post(
    '/segments/preview',
    {
      config,
      schema: { body: PreviewSegmentBody, response: { 200: successWithWarnings(200, SegmentPreview) } },
    },
    async ({ db, caller: { orgId }, body: { kind, filter: given } }) => {
      const filter = await checkFilter(db, orgId, kind, given)
      const until = { sampled: SAMPLED, signal: AbortSignal.timeout(MAX_WAIT_MS) }
      const { members, lookedAt, complete, sample } = await previewFilter(db, { orgId, kind, filter }, until)
      const records = await describeEntities(db, orgId, await findEntities(db, orgId, sample))
      const data = { members, looked_at: lookedAt, complete, sample: records }
      return ok(data, { warnings: await listWarnings(db, orgId, kind, filter) })
    },
  )
}

function defineCreate(api: Api): void {
  api.post(
    '/segments',
    {
      config,
      schema: { body: CreateSegmentBody, response: { 201: successWithWarnings(201, SegmentSummary) } },
    },
    async (request) => {
      const { segment_id } = await createSegment(request.db, request.caller.orgId, request.caller, {
        ...request.body,
        filter: request.body.filter,
      })
      const { data, warnings } = await evaluateAndPrint(request, segment_id)
      return created(data, { warnings })
    },
  )
}

function defineUpdate(api: Api): void {
  api.patch(
    '/segments/:segment_id',
    {
      config: ofPath,
      schema: {
        params: SegmentParams,
        body: UpdateSegmentBody,
        response: { 200: successWithWarnings(200, SegmentSummary) },
      },
    },
    async (request) => {
      await updateSegment(request.db, request.segment, request.caller, request.body)
      const { data, warnings } = await evaluateAndPrint(request, request.segment.segment_id)
      return ok(data, { warnings })
    },
  )
}

function defineDelete(api: Api): void {
  api.delete(
    '/segments/:segment_id',
    {
      config: ofPath,
      schema: {
        params: SegmentParams,
        querystring: DeleteSegmentQuery,
        response: { 200: success(200, z.object({ segment_id: Uuid, deleted: z.literal(true) })) },
      },
    },
    async ({ db, caller, segment, query }) => {
      const force = query.force === 'true'
      if (!force && (await findSyncOfSegment(db, segment)) !== undefined) {
        throw new AppError('Conflict', 'The segment is synced into workflows: delete its sync first')
      }
      await removeSegment(db, segment, caller, { force })
      return ok({ segment_id: segment.segment_id, deleted: true as const })
    },
  )
}

function defineMembers(api: Api): void {
  api.get(
    '/segments/:segment_id/members',
    {
      config: { scope: STORE, resource: segmentOfPath },
      schema: {
        params: SegmentParams,
        querystring: SegmentMembersQuery,
        response: { 200: success(200, SegmentMembers) },
      },
    },
    async ({ db, caller: { orgId }, segment, query: { after = null, limit } }) => {
      const listed = await listMembers(db, segment, { after, limit: limit + 1 })
      const ids = listed.slice(0, limit).map(({ entity_id }) => entity_id)
      const shown = await fitEntities(db, orgId, ids, MAX_PAGE_BYTES)
      const records = await describeEntities(db, orgId, await findEntities(db, orgId, shown))
      const entered = new Map(listed.map(({ entity_id, entered_at }) => [entity_id, entered_at]))
      const members = records.flatMap((record) => {
        const at = entered.get(record.entity_id)
        return at === undefined ? [] : [{ ...record, entered_at: at.toISOString() }]
      })
      const next = listed.length > shown.length ? (shown.at(-1) ?? null) : null
      return ok({ name: segment.name, kind: segment.kind, member_count: segment.member_count, members, next })
    },
  )
}

function startWait() {
  const signal = AbortSignal.timeout(MAX_WAIT_MS)
  return { isOver: () => signal.aborted, signal }
}

/**
 * Returns the segment with the members found in time. A request with an idempotency key is not committed yet, so a
 * worker finds its members.
 */
async function evaluateAndPrint(request: FastifyRequest, segmentId: string) {
  const { db, caller } = request
  if (getOutsideDb(request) === db) {
    await evaluateSegments(db, caller.orgId, segmentId, startWait())
  }
  const segment = await requireSegment(db, { org_id: caller.orgId, segment_id: segmentId })
  const warnings = await listWarnings(db, caller.orgId, segment.kind, readFilter(segment))
  return { data: printSegment(segment), warnings }
}

async function listWarnings(...question: Parameters<typeof listUnknownFields>) {
  const unknown = await listUnknownFields(...question)
  return unknown.map(({ field, message }) => ({ code: 'unknown_field', field, message }))
}
