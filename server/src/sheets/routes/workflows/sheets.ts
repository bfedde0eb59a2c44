import type { FastifyRequest } from 'fastify'
import { success } from '#contract/envelope.ts'
import {
  CreatedSheet,
  CreateSheetBody,
  DeletedSheet,
  NamedSheet,
  Sheet,
  UpdateSheetBody,
} from '#contract/sheets.ts'
import { NameBody } from '#contract/workflows.ts'
import { created, ok } from '../../../api/http/envelope.ts'
import type { Api } from '../../../api/services.ts'
import { forbidden, invalid } from '../../../lib/errors.ts'
import { changeSheet, createSheet, deleteSheet } from '../../sheets.ts'
import { isMainSheet, type SheetRecord } from '../../store/sheets.ts'
import { isOwner, sheetOfPath, SheetParams, workflowOfPath, WorkflowParams } from './resources.ts'

const tags = ['Sheets']

export function sheetRoutes(api: Api): void {
  api.post(
    '/workflows/:workflow_id/sheets',
    {
      config: { scope: 'workflows:write', body: 'control', resource: workflowOfPath },
      schema: {
        tags,
        summary: 'Create a child sheet',
        params: WorkflowParams,
        body: CreateSheetBody,
        response: { 201: success(201, CreatedSheet) },
      },
    },
    async ({ caller, db, workflow, body }) => {
      const made = await createSheet(db, caller, workflow.workflow_id, body)
      return created(viewCreatedSheet(made))
    },
  )

  api.patch(
    '/workflows/:workflow_id/sheets/:sheet_id',
    {
      config: { scope: 'workflows:write', body: 'control', resource: sheetOfPath },
      schema: {
        tags,
        summary: 'Change the settings of a sheet; they apply to rows that arrive from now on',
        params: SheetParams,
        body: UpdateSheetBody,
        response: { 200: success(200, Sheet) },
      },
    },
    async ({ caller, db, sheet, body }) => ok(viewSheet(await changeSheet(db, caller, sheet, body))),
  )

  api.patch(
    '/workflows/:workflow_id/sheets/:sheet_id/name',
    {
      config: { scope: 'workflows:write', body: 'control', resource: sheetOfPath },
      schema: {
        tags,
        summary: "Rename a sheet's tab",
        params: SheetParams,
        body: NameBody,
        response: { 200: success(200, NamedSheet) },
      },
    },
    async ({ caller, db, sheet, body }) => {
      const { workflow_id, sheet_id, name } = await changeSheet(db, caller, sheet, body)
      return ok({ workflow_id, sheet_id, name })
    },
  )

  api.delete(
    '/workflows/:workflow_id/sheets/:sheet_id',
    {
      config: { scope: 'workflows:write', body: 'control', resource: resolveOwnChildSheet },
      schema: {
        tags,
        summary: 'Delete a child sheet with its chain, rows and history',
        params: SheetParams,
        response: { 200: success(200, DeletedSheet) },
      },
    },
    async ({ caller, db, sheet }) => {
      await deleteSheet(db, caller, sheet)
      const { workflow_id, sheet_id } = sheet
      return ok({ workflow_id, sheet_id, deleted: true as const })
    },
  )
}

/** Resolves a child sheet to delete. Its creator and the workflow's owner may delete it (D58). */
async function resolveOwnChildSheet(request: FastifyRequest): Promise<void> {
  await sheetOfPath(request)
  const { caller, sheet, workflow } = request
  if (isMainSheet(sheet)) {
    throw invalid('sheet_id', 'the main sheet cannot be deleted; delete its workflow instead')
  }
  if (!isOwner(caller, sheet) && !isOwner(caller, workflow)) {
    throw forbidden('Only the owner may delete this sheet')
  }
}

function viewCreatedSheet({
  sheet_id,
  workflow_id,
  name,
  auto_run,
  cache_enabled,
  cache_since,
}: SheetRecord) {
  return { sheet_id, workflow_id, name, auto_run, cache_enabled, cache_since }
}

function viewSheet(sheet: SheetRecord) {
  const { continue_on_fail } = sheet
  return { ...viewCreatedSheet(sheet), is_main_sheet: isMainSheet(sheet), continue_on_fail }
}
