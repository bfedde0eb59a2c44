import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { STORE } from '#contract/names.ts'
import { ConfirmBody, ResumeDestinationBody, SegmentSync } from '#contract/segment-syncs.ts'
import { ok } from '../../api/http/envelope.ts'
import type { Api } from '../../api/services.ts'
import { notFound } from '../../lib/errors.ts'
import {
  confirmSync,
  deleteSync,
  pauseDestination,
  resumeDestination,
  resumeSync,
} from '../syncs/decisions.ts'
import { findSync, listSyncs } from '../syncs/store/syncs.ts'
import { viewSyncs } from '../syncs/view.ts'
import {
  destinationOfPath,
  DestinationParams,
  listVisible,
  syncOfPath,
  SyncParams,
  wholeSyncOfPath,
} from './sync-resources.ts'

const BASE = `/${STORE}/syncs`
const DESTINATION = `${BASE}/:sync_id/destinations/:connection_id`
const tags = ['Segment syncs']
const response = { 200: success(200, SegmentSync) }
const whole = { scope: STORE, narrowedKeys: 'allowed', body: 'control', resource: wholeSyncOfPath } as const
const oneDestination = {
  scope: STORE,
  narrowedKeys: 'allowed',
  body: 'control',
  resource: destinationOfPath,
} as const

export function segmentSyncRoutes(api: Api): void {
  defineReading(api)
  defineDelete(api)
  defineResume(api)
  defineConfirm(api)
  defineDestinations(api)
}

function defineReading(api: Api): void {
  api.get(
    BASE,
    {
      config: { scope: STORE, narrowedKeys: 'allowed' },
      schema: {
        tags,
        summary: 'List syncs with the destinations that you may see, newest first',
        response: { 200: success(200, z.array(SegmentSync)) },
      },
    },
    async (request) => {
      const { db, caller } = request
      const syncs = await listSyncs(db, caller.orgId)
      const { visible } = await listVisible(
        request,
        syncs.map(({ sync_id }) => sync_id),
      )
      const seen = new Set(visible.map(({ sync_id }) => sync_id))
      return ok(
        await viewSyncs(
          db,
          caller.orgId,
          syncs.filter(({ sync_id }) => seen.has(sync_id)),
          visible,
        ),
      )
    },
  )

  api.get(
    `${BASE}/:sync_id`,
    {
      config: { scope: STORE, narrowedKeys: 'allowed', resource: syncOfPath },
      schema: {
        tags,
        summary: 'Get a sync: its state, held members, and the counters of each destination',
        params: SyncParams,
        response,
      },
    },
    async (request) => ok(await viewNow(request)),
  )
}

function defineDelete(api: Api): void {
  api.delete(
    `${BASE}/:sync_id`,
    {
      config: whole,
      schema: {
        tags,
        summary: 'Delete a sync: deliveries end, delivered rows stay',
        params: SyncParams,
        response,
      },
    },
    async (request) => {
      const { db, caller, segmentSync } = request
      const before = await viewNow(request)
      await deleteSync(db, caller, segmentSync, coveredBy(request))
      return ok({ ...before, state: 'deleted' as const })
    },
  )
}

function defineResume(api: Api): void {
  api.post(
    `${BASE}/:sync_id/resume`,
    {
      config: whole,
      schema: { tags, summary: 'Resume a sync after an import error', params: SyncParams, response },
    },
    async (request) => {
      await resumeSync(request.db, request.caller, request.segmentSync, coveredBy(request))
      return ok(await viewNow(request))
    },
  )
}

function defineConfirm(api: Api): void {
  api.post(
    `${BASE}/:sync_id/confirm`,
    {
      config: whole,
      schema: {
        tags,
        summary: 'Deliver or drop the held members',
        params: SyncParams,
        body: ConfirmBody,
        response,
      },
    },
    async (request) => {
      const { db, caller, segmentSync, body } = request
      await confirmSync(db, caller, segmentSync, { covered: coveredBy(request), choice: body.choice })
      return ok(await viewNow(request))
    },
  )
}

function defineDestinations(api: Api): void {
  api.post(
    `${DESTINATION}/pause`,
    {
      config: oneDestination,
      schema: { tags, summary: 'Pause one destination of a sync', params: DestinationParams, response },
    },
    async (request) => {
      const { db, caller, segmentSync, params } = request
      await pauseDestination(db, caller, segmentSync, params.connection_id.toLowerCase())
      return ok(await viewNow(request))
    },
  )

  api.post(
    `${DESTINATION}/resume`,
    {
      config: oneDestination,
      schema: {
        tags,
        summary: 'Resume one destination, and deliver or drop the members that entered during the pause',
        params: DestinationParams,
        body: ResumeDestinationBody,
        response,
      },
    },
    async (request) => {
      const { db, caller, segmentSync, params, body } = request
      await resumeDestination(db, caller, segmentSync, {
        connectionId: params.connection_id.toLowerCase(),
        choice: body.choice,
      })
      return ok(await viewNow(request))
    },
  )
}

const coveredBy = ({ destinations }: FastifyRequest) =>
  new Set(destinations.map(({ connection_id }) => connection_id))

/** Returns the sync after a change. */
async function viewNow(request: FastifyRequest): Promise<SegmentSync> {
  const { db, caller, segmentSync } = request
  const sync = await findSync(db, segmentSync)
  const { visible } = await listVisible(request, [segmentSync.sync_id])
  const [view] = sync === undefined ? [] : await viewSyncs(db, caller.orgId, [sync], visible)
  if (view === undefined) throw notFound('Sync')
  return view
}
