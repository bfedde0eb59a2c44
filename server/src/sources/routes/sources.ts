import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import {
  CreatedSource,
  SourceBody,
  SourceInstance,
  SourceOptionList,
  SourceOptionsBody,
  SourcePreview,
} from '#contract/sources.ts'
import { created, ok } from '../../api/http/envelope.ts'
import type { RouteServices } from '../../api/http/event-streams.ts'
import type { Api } from '../../api/services.ts'
import { builtIn } from '../../catalog/providers/built_in/provider.ts'
import { tooManyRequests } from '../../lib/errors.ts'
import { plural } from '../../lib/plural.ts'
import { answerUnits, DRY_RUN_ANSWER } from '../../money/routes/dry-runs.ts'
import { listSourceOptions } from '../options.ts'
import { previewSource } from '../preview.ts'
import { createSource, openRequest } from '../pulls/create.ts'
import { findReception } from '../pulls/inbox/reception.ts'
import { priceSource } from '../pulls/prices.ts'
import { viewSource } from '../pulls/view.ts'
import { type Reached, usesInstallationKey } from '../reach.ts'
import { toCallerError } from '../refusals.ts'
import { takePreview } from '../store/preview-quota.ts'
import { listSources } from '../store/sources.ts'
import { createLending, type Lend, type LendingParts } from './lending.ts'
import { SourceFieldParams, sourceOfPath, SourceParams } from './source-resources.ts'

const tags = ['Sources']
type Parts = LendingParts & Pick<RouteServices, 'sources' | 'publicUrl' | 'prices'>

export function sourceRoutes(api: Api, parts: Parts): void {
  const lend = createLending(parts)
  definePreview(api, parts, lend)
  defineCreate(api, parts, lend)
  defineOptions(api, parts, lend)
  defineList(api, parts)
}

/** Counts a preview on the installation's keys. Throws a 429 above the organisation's limit. */
async function countPreview({ db, caller }: FastifyRequest, { pull }: Reached, perHour: number) {
  const turn = await takePreview(db, { orgId: caller.orgId, perHour })
  if (turn.ok) return
  throw tooManyRequests(
    `Your organisation may preview sources ${plural(perHour, 'time')} an hour on this server's keys. Previews on a key of your own are not counted (provider ${pull.provider.name}; \`loam connection add\`); or create the source without a preview`,
    Math.ceil(turn.waitMs / 1000),
  )
}

function definePreview(api: Api, { sources, config }: Parts, lend: Lend): void {
  api.post(
    '/sources/:source_id/preview',
    {
      config: {
        scope: 'sources:read',
        waits: true,
        callsOut: 'repeatable',
        body: 'document',
        resource: sourceOfPath(sources),
      },
      schema: {
        tags,
        summary:
          'Preview the first rows of a source: at most 100, or 5 if the installation pays; costs no credits',
        params: SourceParams,
        body: SourceBody,
        response: { 200: SourcePreview.extend({ status: z.literal(200) }) },
      },
    },
    async (request) => {
      const { source, body } = request
      const { keys, services } = lend(request)
      const { request: read, reached } = await openRequest(source, body, keys, services)
      if (reached !== null && usesInstallationKey(reached)) {
        await countPreview(request, reached, config.LOAM_PREVIEWS_PER_HOUR)
      }
      const preview = await previewSource(source, reached, read, services)
      if ('kind' in preview) throw toCallerError(preview, reached?.pull.provider ?? builtIn, 'body')
      const { rows, total, capped } = preview
      const metadata = { total_results: total, ...(capped ? { capped } : {}) }
      return { ...ok(rows), metadata }
    },
  )
}

function defineCreate(api: Api, { sources, sealer, publicUrl, prices }: Parts, lend: Lend): void {
  api.post(
    '/sources/:source_id',
    {
      config: { scope: 'sources:write', body: 'document', resource: sourceOfPath(sources) },
      schema: {
        tags,
        summary: 'Create a source; its first import starts automatically',
        params: SourceParams,
        body: SourceBody,
        response: { 200: DRY_RUN_ANSWER, 201: success(201, CreatedSource) },
      },
    },
    async (request) => {
      const { source, body, db, caller } = request
      const { keys, services } = lend(request)
      const opened = await openRequest(source, body, keys, services)
      if (opened.request.isDryRun) {
        return answerUnits(request, { prices }, priceSource(opened))
      }
      const made = await createSource(db, caller, caller, { source, sealer, ...opened })
      const { instance_id, name, created_at } = made
      const { reception } = await findReception(db, sealer, publicUrl(), { record: made, source })
      const at = created_at.toISOString()
      return created({ source_instance_id: instance_id, name, created_at: at, ...reception })
    },
  )
}

function defineOptions(api: Api, { sources }: Parts, lend: Lend): void {
  api.post(
    '/sources/:source_id/options/:field_name',
    {
      config: {
        scope: 'sources:read',
        waits: true,
        callsOut: 'repeatable',
        body: 'control',
        resource: sourceOfPath(sources),
      },
      schema: {
        tags,
        summary: 'List the choices of a field of a source',
        params: SourceFieldParams,
        body: SourceOptionsBody,
        response: { 200: success(200, SourceOptionList) },
      },
    },
    async (request) => {
      const { source, params, body } = request
      const options = await listSourceOptions(source, params.field_name, body?.context ?? {}, lend(request))
      return ok({ options: [...options] })
    },
  )
}

function defineList(api: Api, { sources }: Parts): void {
  api.get(
    '/sources',
    {
      config: { scope: 'sources:read', narrowedKeys: 'allowed' },
      schema: {
        tags,
        summary: 'List the sources of the organisation, newest first',
        response: { 200: success(200, z.array(SourceInstance)) },
      },
    },
    async ({ db, caller }) => {
      const all = await listSources(db, caller.orgId, caller.allowedWorkflowIds)
      return ok(all.filter(({ slug }) => sources.get(slug) !== undefined).map(viewSource))
    },
  )
}
