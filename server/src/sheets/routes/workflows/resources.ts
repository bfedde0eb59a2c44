import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { Uuid } from '#contract/envelope.ts'
import type { Caller } from '../../../api/http/caller.ts'
import { forbidden, notFound } from '../../../lib/errors.ts'
import { findSheetWithWorkflow, type SheetRecord } from '../../store/sheets.ts'
import { findWorkflow, type WorkflowFor } from '../../store/workflows.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The workflow of the path: it exists and the caller may use it. Set by `workflowOfPath` and `sheetOfPath`. */
    workflow: WorkflowFor
    /** The sheet of the path. Set by `sheetOfPath`. */
    sheet: SheetRecord
  }
}

export const WorkflowParams = z.object({ workflow_id: Uuid })
export const SheetParams = z.object({ workflow_id: Uuid, sheet_id: Uuid })

/**
 * Returns true if the caller may use the workflow: an admin uses every workflow of the organisation, a member their own and
 * those shared with them (D13).
 */
export function mayUse(
  caller: Caller,
  workflow: Pick<WorkflowFor, 'workflow_id' | 'owner_id' | 'is_shared'>,
): boolean {
  if (caller.allowedWorkflowIds !== null && !caller.allowedWorkflowIds.has(workflow.workflow_id)) return false
  return caller.role === 'admin' || workflow.owner_id === caller.memberId || workflow.is_shared
}

/** Returns true if the caller is the owner. If the owner was removed, admins act as owner (D47). */
export function isOwner(caller: Caller, resource: { owner_id: string | null }): boolean {
  return resource.owner_id === null ? caller.role === 'admin' : resource.owner_id === caller.memberId
}

/** Refuses keys that are restricted to certain workflows: they may not create others. */
export function requireUnrestricted(caller: Caller): void {
  if (caller.allowedWorkflowIds !== null) {
    throw forbidden('This key is limited to certain workflows and cannot create others')
  }
}

export async function requireWorkflow(request: FastifyRequest, workflowId: string): Promise<WorkflowFor> {
  const { caller, db } = request
  const workflow = await findWorkflow(db, caller.orgId, caller.memberId, workflowId)
  if (workflow === undefined) throw notFound('Workflow')
  requireUse(caller, workflow)
  return workflow
}

function requireUse(caller: Caller, workflow: WorkflowFor): void {
  if (!mayUse(caller, workflow)) throw forbidden('You have no access to this workflow')
}

export async function workflowOfPath(request: FastifyRequest): Promise<void> {
  const { workflow_id } = request.params as z.infer<typeof WorkflowParams>
  request.workflow = await requireWorkflow(request, workflow_id)
}

export async function sheetOfPath(request: FastifyRequest): Promise<void> {
  const { workflow_id, sheet_id } = request.params as z.infer<typeof SheetParams>
  const { caller, db } = request
  // The admitted sheet is used only once: streams and long requests check again whether the caller may still use it.
  const admitted = request.admittedSheet
  request.admittedSheet = null
  const found =
    admitted ?? (await findSheetWithWorkflow(db, caller, { workflowId: workflow_id, sheetId: sheet_id }))
  if (found === undefined) {
    await requireWorkflow(request, workflow_id)
    throw notFound('Sheet')
  }
  requireUse(caller, found.workflow)
  request.workflow = found.workflow
  request.sheet = found.sheet
}
