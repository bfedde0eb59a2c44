import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { success } from '#contract/envelope.ts'
import {
  EnableWebhookBody,
  ScheduleBody,
  Sharing,
  SharingBody,
  SheetSchedule,
  SheetWebhook,
  SHOWN_DELIVERIES,
} from '#contract/sheet-settings.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import { forbidden, invalid } from '../../../lib/errors.ts'
import { toMillis } from '../../../money/caps.ts'
import { MILLIS } from '../../../money/store/credits.ts'
import { findMemberById } from '../../../organisation/store/members.ts'
import { setSchedule, unsetSchedule } from '../../../runs/schedules.ts'
import { findSchedule, type Schedule } from '../../../runs/store/schedules.ts'
import { listDeliveries } from '../../../runs/webhooks/store/webhook-deliveries.ts'
import { listWebhooks } from '../../../runs/webhooks/store/webhooks.ts'
import {
  switchWebhookOff,
  switchWebhookOn,
  webhookUrl,
  webhookUrls,
} from '../../../runs/webhooks/webhooks.ts'
import { findView } from '../../store/views.ts'
import { listShares } from '../../store/workflows.ts'
import { setSharing } from '../../workflows.ts'
import { isOwner, sheetOfPath, SheetParams, workflowOfPath, WorkflowParams } from '../workflows/resources.ts'

const SHEET = '/workflows/:workflow_id/sheets/:sheet_id'

/** Registers the endpoints for sharing a workflow and for the schedule and webhook of its sheets. */
export function workflowSettings(api: Api, services: Services): void {
  sharingRoutes(api)
  scheduleRoutes(api)
  webhookRoutes(api, services)
}

function sharingRoutes(api: Api): void {
  const url = '/workflows/:workflow_id/share'
  const answer = { 200: success(200, Sharing) }
  api.get(
    url,
    {
      config: { scope: 'workflows:read', resource: workflowOfPath },
      schema: { params: WorkflowParams, response: answer },
    },
    async (request) => ok(await viewSharing(request)),
  )

  api.post(
    url,
    {
      config: { scope: 'workflows:write', body: 'control', resource: workflowOfPath },
      schema: { params: WorkflowParams, body: SharingBody, response: answer },
    },
    async (request) => share(request, request.body.email, true),
  )

  api.delete(
    `${url}/:email`,
    {
      config: { scope: 'workflows:write', body: 'control', resource: workflowOfPath },
      schema: { params: WorkflowParams.extend(SharingBody.shape), response: answer },
    },
    async (request) => share(request, request.params.email, false),
  )
}

async function share(request: FastifyRequest, email: string, shared: boolean) {
  const { db, caller, workflow } = request
  if (!mayShare(request)) throw forbidden('Only the owner or an administrator shares this workflow')
  await setSharing(db, caller, { orgId: caller.orgId, workflowId: workflow.workflow_id, email }, shared)
  return ok(await viewSharing(request))
}

const mayShare = ({ caller, workflow }: FastifyRequest) =>
  caller.role === 'admin' || isOwner(caller, workflow)

async function viewSharing(request: FastifyRequest): Promise<z.infer<typeof Sharing>> {
  const { db, caller, workflow } = request
  const { owner_id, workflow_id } = workflow
  const owner = owner_id === null ? undefined : await findMemberById(db, caller.orgId, owner_id)
  const shares = await listShares(db, caller.orgId, workflow_id)
  return {
    owner: owner?.email ?? null,
    shared_with: shares.map(({ email, first_name, last_name }) => ({
      email,
      name: [first_name, last_name].filter((part) => part !== null).join(' '),
    })),
    may_share: mayShare(request),
  }
}

function scheduleRoutes(api: Api): void {
  const url = `${SHEET}/schedule`
  const answer = { 200: success(200, SheetSchedule.nullable()) }
  const writes = { scope: 'workflows:run' as const, body: 'control' as const, resource: sheetOfPath }
  api.get(
    url,
    {
      config: { scope: 'workflows:read', resource: sheetOfPath },
      schema: { params: SheetParams, response: answer },
    },
    async ({ db, sheet }) => {
      const schedule = await findSchedule(db, sheet)
      return ok(schedule === undefined ? null : viewSchedule(schedule))
    },
  )

  api.put(
    url,
    { config: writes, schema: { params: SheetParams, body: ScheduleBody, response: answer } },
    async ({ db, caller, sheet, body }) => {
      const { max_credits, view_id: viewId, ...given } = body
      if (viewId !== undefined && (await findView(db, sheet, viewId, caller)) === undefined)
        throw invalid('view_id', 'is not a view of this sheet')
      if (viewId !== undefined && given.only !== undefined)
        throw invalid('view_id', 'cannot be combined with only')
      const maxCreditsMillis = toCapMillis(max_credits)
      return ok(viewSchedule(await setSchedule(db, caller, sheet, { ...given, viewId, maxCreditsMillis })))
    },
  )

  api.delete(url, { config: writes, schema: { params: SheetParams, response: answer } }, async (request) => {
    await unsetSchedule(request.db, request.caller, request.sheet)
    return ok(null)
  })
}

/** Converts a limit to thousandths. Null means no limit, undefined means unchanged. */
const toCapMillis = (credits: number | null | undefined) =>
  credits === undefined || credits === null ? credits : toMillis(credits)
const toCredits = (millis: number | null | undefined) =>
  millis === undefined || millis === null ? null : millis / MILLIS

function viewSchedule(schedule: Schedule): z.infer<typeof SheetSchedule> {
  const { cron, timezone, only_rows, next_run_at, max_credits_millis, view_id } = schedule
  return {
    cron,
    timezone,
    only: only_rows,
    ...(view_id === null ? {} : { view_id }),
    max_credits: toCredits(max_credits_millis),
    next_run_at: next_run_at.toISOString(),
  }
}

function webhookRoutes(api: Api, { sealer, publicUrl }: Services): void {
  const url = `${SHEET}/webhook`
  const answer = { 200: success(200, SheetWebhook) }
  const writes = { scope: 'workflows:write' as const, body: 'control' as const, resource: sheetOfPath }

  async function view({ db, caller, sheet }: FastifyRequest): Promise<z.infer<typeof SheetWebhook>> {
    const { sheet_id } = sheet
    const { urls } = await webhookUrls(db, sealer, publicUrl(), { orgId: caller.orgId, sheetIds: [sheet_id] })
    const [webhook] = await listWebhooks(db, caller.orgId, [sheet_id])
    const deliveries = await listDeliveries(db, sheet, SHOWN_DELIVERIES)
    return {
      enabled: urls.has(sheet_id),
      address: urls.get(sheet_id) ?? null,
      max_credits_per_day: toCredits(webhook?.max_credits_millis),
      deliveries: deliveries.map((delivery) => ({ ...delivery, at: delivery.at.toISOString() })),
    }
  }

  api.get(
    url,
    {
      config: { scope: 'workflows:data:read', resource: sheetOfPath },
      schema: { params: SheetParams, response: answer },
    },
    async (request) => ok(await view(request)),
  )

  api.post(
    url,
    {
      config: writes,
      schema: { params: SheetParams, body: EnableWebhookBody.prefault({}), response: answer },
    },
    async (request) => {
      const { db, caller, sheet, body } = request
      const token = await switchWebhookOn(db, caller, sealer, {
        sheet,
        rotate: body.new_address,
        capMillis: toCapMillis(body.max_credits_per_day),
      })
      return ok({ ...(await view(request)), enabled: true, address: webhookUrl(publicUrl(), token) })
    },
  )

  api.delete(url, { config: writes, schema: { params: SheetParams, response: answer } }, async (request) => {
    await switchWebhookOff(request.db, request.caller, request.sheet)
    return ok(await view(request))
  })
}
