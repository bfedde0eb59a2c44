import type { FastifyRequest } from 'fastify'
import { success, successWithWarnings } from '#contract/envelope.ts'
import {
  ChangeSourceBody,
  SourceData,
  SourceDataQuery,
  SourceState,
  SourceStatusBody,
  SourceStatusChange,
  SyncedSource,
  SyncSourceBody,
} from '#contract/sources.ts'
import { created, ok } from '../../api/http/envelope.ts'
import type { RouteServices } from '../../api/http/event-streams.ts'
import type { Api } from '../../api/services.ts'
import { notFound } from '../../lib/errors.ts'
import { answerArrivals, DRY_RUN_ANSWER, type EstimateServices } from '../../money/routes/dry-runs.ts'
import { requireWorkflow } from '../../sheets/routes/workflows/resources.ts'
import { findSheet } from '../../sheets/store/sheets.ts'
import { changeCreditCap } from '../pulls/credit-cap.ts'
import { readSourceState } from '../pulls/state.ts'
import { setSourceStatus } from '../pulls/status.ts'
import { checkSync, syncSource } from '../pulls/sync.ts'
import { listRecords } from '../store/source-records.ts'
import type { SourceRecord } from '../store/sources.ts'
import { InstanceParams, instanceOfPath, isKnownTo, wholeInstanceOfPath } from './source-resources.ts'

const tags = ['Sources']
const read = { scope: 'sources:read', narrowedKeys: 'allowed', resource: instanceOfPath } as const
const write = { ...read, scope: 'sources:write', body: 'document' } as const
const writeWhole = { ...write, resource: wholeInstanceOfPath } as const

type Parts = EstimateServices & Pick<RouteServices, 'sources' | 'sealer' | 'publicUrl'>

export function sourceInstanceRoutes(api: Api, services: Parts): void {
  defineGet(api, services)
  defineData(api)
  defineSync(api, services)
  defineChange(api, services)
  defineStatus(api)
}

function defineGet(api: Api, services: Parts): void {
  api.get(
    '/sources/:source_instance_id',
    {
      config: read,
      schema: {
        tags,
        summary:
          'Get a source with its status: last and next pull, new and changed records, last error with a hint',
        params: InstanceParams,
        response: { 200: success(200, SourceState) },
      },
    },
    (request) => printState(request, request.sourceRecord, services),
  )
}

function defineData(api: Api): void {
  api.get(
    '/sources/:source_instance_id/data',
    {
      config: read,
      schema: {
        tags,
        summary: 'List the records that a source has imported, in import order',
        params: InstanceParams,
        querystring: SourceDataQuery,
        response: { 200: success(200, SourceData) },
      },
    },
    async ({ db, sourceRecord, query: { page_no, page_size } }) => {
      const offset = (page_no - 1) * page_size
      const rows = await listRecords(db, sourceRecord, { offset, limit: page_size })
      return ok({ rows, total_count: sourceRecord.lead_count, page_no, page_size })
    },
  )
}

function defineSync(api: Api, services: Parts): void {
  const { sources } = services

  api.post(
    '/sources/:source_instance_id/sync',
    {
      config: { ...write, spends: true },
      schema: {
        tags,
        summary: 'Deliver the records of a source into the main sheet of a workflow, from now on',
        params: InstanceParams,
        body: SyncSourceBody,
        response: { 200: DRY_RUN_ANSWER, 201: successWithWarnings(201, SyncedSource) },
      },
    },
    async (request) => {
      const { db, caller, sourceRecord: record, body } = request
      const { workflow_id } = await requireWorkflow(request, body.workflow_id.toLowerCase())
      const sheet = await findSheet(db, caller.orgId, workflow_id)
      if (sheet === undefined) throw notFound('Workflow')
      const ends = { record, sheet, source: sources.get(record.slug) }
      if (body.dry_run === true) {
        const checked = await checkSync(db, ends, body.field_mapping)
        request.warnings.push(...checked.warnings)
        const rows = sheet.auto_run && body.push_existing ? record.lead_count : 0
        const given = { maxCredits: body.max_credits, trigger: 'source' as const }
        return answerArrivals(request, services, given, { sheet, rows })
      }
      const { mapped, warnings } = await syncSource(db, caller, ends, {
        fieldMapping: body.field_mapping,
        pushExisting: body.push_existing,
        onChange: body.on_change,
        maxCredits: body.max_credits,
      })
      const data = {
        source_instance_id: record.instance_id,
        workflow_id,
        push_existing: body.push_existing,
        fields_mapped: mapped,
      }
      return created(data, { warnings: [...warnings, ...(body.run === undefined ? [] : [DEPRECATED_RUN])] })
    },
  )
}

function defineChange(api: Api, services: Parts): void {
  api.patch(
    '/sources/:source_instance_id',
    {
      config: writeWhole,
      schema: {
        tags,
        summary: 'Change the credit limit of a source; one that had reached it continues',
        params: InstanceParams,
        body: ChangeSourceBody,
        response: { 200: success(200, SourceState) },
      },
    },
    async (request) => {
      const { db, caller, sourceRecord, body } = request
      const changed = await changeCreditCap(db, caller, sourceRecord, body.max_credits)
      return printState(request, changed, services)
    },
  )
}

function defineStatus(api: Api): void {
  api.patch(
    '/sources/:source_instance_id/status',
    {
      config: writeWhole,
      schema: {
        tags,
        summary: 'Pause or resume a source',
        params: InstanceParams,
        body: SourceStatusBody,
        response: { 200: success(200, SourceStatusChange) },
      },
    },
    async ({ db, caller, sourceRecord, body: { status } }) => {
      const { instance_id } = await setSourceStatus(db, caller, sourceRecord, status)
      return ok({ source_instance_id: instance_id, status })
    },
  )
}

async function printState(
  { db, caller }: FastifyRequest,
  record: SourceRecord,
  { sources, sealer, publicUrl }: Parts,
) {
  const means = { sources, sealer, publicUrl: publicUrl() }
  const { state, warnings } = await readSourceState(db, record, means)
  const syncs = state.syncs.filter((sync) => isKnownTo(caller, sync))
  return ok({ ...state, syncs }, warnings.length === 0 ? {} : { warnings })
}

const DEPRECATED_RUN = {
  field: 'run',
  code: 'deprecated_field',
  message: 'is ignored: the auto_run setting of the sheet decides whether rows run',
}
