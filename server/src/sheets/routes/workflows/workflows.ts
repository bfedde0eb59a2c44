import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import {
  CreatedWorkflow,
  DeletedWorkflow,
  NameBody,
  NamedWorkflow,
  Workflow,
  WorkflowOverview,
} from '#contract/workflows.ts'
import { created, ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import { forbidden, notFound } from '../../../lib/errors.ts'
import { webhookUrls } from '../../../runs/webhooks/webhooks.ts'
import { findSheet, isMainSheet, listSheets, type SheetRecord } from '../../store/sheets.ts'
import { listSharedEmails, listWorkflows, type WorkflowRecord } from '../../store/workflows.ts'
import { duplicateSheet, duplicateWorkflow } from '../../workflow-copies.ts'
import { createWorkflow, deleteWorkflow, renameWorkflow } from '../../workflows.ts'
import {
  isOwner,
  mayUse,
  requireUnrestricted,
  requireWorkflow,
  workflowOfPath,
  WorkflowParams,
} from './resources.ts'

const tags = ['Workflows']

export function workflowRoutes(api: Api, services: Services): void {
  defineCreate(api)
  defineList(api)
  defineGet(api, services)
  defineRename(api)
  defineDuplicate(api, services)
  defineDelete(api)
}

function defineCreate(api: Api): void {
  api.post(
    '/workflows',
    {
      config: {
        scope: 'workflows:write',
        body: 'control',
      },
      schema: {
        tags,
        summary: 'Create a workflow with its main sheet',
        body: NameBody,
        response: { 201: success(201, CreatedWorkflow) },
      },
    },
    async ({ caller, db, body }) => {
      const made = await createWorkflow(db, caller, body.name)
      return created({ ...made, created_at: made.created_at.toISOString() })
    },
  )
}

function defineList(api: Api): void {
  api.get(
    '/workflows',
    {
      config: { scope: 'workflows:read', narrowedKeys: 'allowed' },
      schema: { tags, summary: 'List workflows', response: { 200: success(200, z.array(Workflow)) } },
    },
    async ({ caller, db }) => {
      const workflows = await listWorkflows(db, caller.orgId, caller.memberId)
      return ok(workflows.filter((workflow) => mayUse(caller, workflow)).map(viewWorkflow))
    },
  )
}

function defineGet(api: Api, { sealer, publicUrl }: Services): void {
  api.get(
    '/workflows/:workflow_id',
    {
      config: { scope: 'workflows:read', resource: workflowOfPath },
      schema: {
        tags,
        summary: 'Get a workflow with its sheets, inputs and actions',
        params: WorkflowParams,
        response: { 200: success(200, WorkflowOverview) },
      },
    },
    async ({ caller, db, workflow }) => {
      const { orgId } = caller
      const is_owner = isOwner(caller, workflow)
      const [sheets, shared_users] = await Promise.all([
        listSheets(db, orgId, workflow.workflow_id),
        is_owner ? listSharedEmails(db, orgId, workflow.workflow_id) : [],
      ])
      const ids = sheets.map((sheet) => sheet.sheet_id)
      const { urls, warnings } = await webhookUrls(db, sealer, publicUrl(), { orgId, sheetIds: ids })
      const roster = sheets.map((sheet) => viewRosterSheet(sheet, urls.get(sheet.sheet_id) ?? null))
      const overview = { ...viewWorkflow(workflow), is_owner, shared_users, sheets: roster }
      return ok(overview, warnings.length === 0 ? {} : { warnings })
    },
  )
}

function defineRename(api: Api): void {
  api.patch(
    '/workflows/:workflow_id/name',
    {
      config: { scope: 'workflows:write', body: 'control', resource: workflowOfPath },
      schema: {
        tags,
        summary: 'Rename a workflow',
        params: WorkflowParams,
        body: NameBody,
        response: { 200: success(200, NamedWorkflow) },
      },
    },
    async ({ caller, db, workflow: { workflow_id }, body: { name } }) => {
      await renameWorkflow(db, caller, workflow_id, name)
      return ok({ workflow_id, name })
    },
  )
}

function defineDuplicate(api: Api, { sealer }: Services): void {
  api.post(
    '/workflows/:workflow_id/duplicate',
    {
      config: { scope: 'workflows:write', body: 'control', resource: resolveSource },
      schema: {
        tags,
        summary: 'Duplicate a workflow, or a child sheet inside its workflow',
        params: WorkflowParams,
        body: NameBody,
        response: { 201: success(201, NamedWorkflow) },
      },
    },
    async ({ caller, db, sheet, body: { name } }) => {
      const data = isMainSheet(sheet)
        ? await duplicateWorkflow(db, caller, sealer, { sourceId: sheet.workflow_id, name })
        : await duplicateSheet(db, caller, sealer, { ...sheet, name })
      return created(data)
    },
  )
}

function defineDelete(api: Api): void {
  api.delete(
    '/workflows/:workflow_id',
    {
      config: { scope: 'workflows:write', body: 'control', resource: resolveOwnWorkflow },
      schema: {
        tags,
        summary: 'Delete a workflow with all its sheets, rows and history',
        params: WorkflowParams,
        response: { 200: success(200, DeletedWorkflow) },
      },
    },
    async ({ caller, db, workflow }) => {
      await deleteWorkflow(db, caller, workflow)
      return ok({ workflow_id: workflow.workflow_id, deleted: true as const })
    },
  )
}

async function resolveOwnWorkflow(request: FastifyRequest): Promise<void> {
  await workflowOfPath(request)
  if (!isOwner(request.caller, request.workflow)) throw forbidden('Only the owner may delete this workflow')
}

/** Resolves the workflow or the child sheet to duplicate, by either id (D46). */
async function resolveSource(request: FastifyRequest): Promise<void> {
  const { workflow_id } = request.params as z.infer<typeof WorkflowParams>
  const sheet = await findSheet(request.db, request.caller.orgId, workflow_id)
  if (sheet === undefined) throw notFound('Workflow')
  request.workflow = await requireWorkflow(request, sheet.workflow_id)
  request.sheet = sheet
  if (isMainSheet(sheet)) requireUnrestricted(request.caller)
}

function viewWorkflow({ workflow_id, name, created_at, updated_at, last_run_at }: WorkflowRecord) {
  return {
    workflow_id,
    name,
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
    last_run_at: last_run_at?.toISOString() ?? null,
  }
}

function viewRosterSheet(sheet: SheetRecord, webhook_url: string | null) {
  const { sheet_id, name, auto_run, cache_enabled, cache_since } = sheet
  const is_main_sheet = isMainSheet(sheet)
  return { sheet_id, name, is_main_sheet, auto_run, cache_enabled, cache_since, webhook_url }
}
