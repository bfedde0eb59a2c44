import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { Plan, PlanBody, WorkflowFile, WrittenFile } from '#contract/definitions.ts'
import { successWithWarnings } from '#contract/envelope.ts'
import type { Caller } from '../../../api/http/caller.ts'
import { ok } from '../../../api/http/envelope.ts'
import { checkPart } from '../../../api/http/validation.ts'
import type { Api, Services } from '../../../api/services.ts'
import { AppError } from '../../../lib/errors.ts'
import { type Applying, applyFile, planFile, type Wanted } from '../../definitions/apply-file.ts'
import { writeWorkflowFile } from '../../definitions/write-file.ts'
import type { WorkflowFor } from '../../store/workflows.ts'
import { mayUse, requireUnrestricted, workflowOfPath, WorkflowParams } from './resources.ts'

const tags = ['Workflows']

type Parts = Pick<Services, 'catalogue' | 'config' | 'models' | 'egress'>

/** Registers workflows as files: read, planned and applied as a whole. */
export function definitionRoutes(api: Api, parts: Parts): void {
  api.get(
    '/workflows/:workflow_id/definition',
    {
      config: { scope: 'workflows:read', resource: workflowOfPath },
      schema: {
        tags,
        summary: 'Get a workflow as a file, with names instead of ids',
        params: WorkflowParams,
        response: { 200: successWithWarnings(200, WrittenFile) },
      },
    },
    async ({ caller, db, workflow }) => {
      requireScope(caller, 'actions:read')
      const { file, warnings } = await writeWorkflowFile(db, readerOf(caller), workflow, parts.catalogue)
      return ok(file, { warnings })
    },
  )
  definePlan(api, parts)
  defineApply(api, parts)
}

const CONFIG = { body: 'document', numberTexts: ['inputs', 'values'], narrowedKeys: 'allowed' } as const

function definePlan(api: Api, parts: Parts): void {
  api.post(
    '/definitions/plan',
    {
      config: { scope: 'workflows:read', ...CONFIG },
      schema: {
        tags,
        summary: 'Show what applying a workflow file would change',
        body: PlanBody,
        response: { 200: successWithWarnings(200, Plan) },
      },
    },
    async (request) => {
      requireScope(request.caller, 'actions:read')
      const { plan, warnings } = await planFile(applyingOf(request, parts), readFile(request.body))
      return ok(plan, { warnings })
    },
  )
}

function defineApply(api: Api, parts: Parts): void {
  api.post(
    '/definitions/apply',
    {
      config: { scope: 'workflows:write', ...CONFIG },
      schema: {
        tags,
        summary: 'Turn a workflow into what a file says, in one transaction',
        body: PlanBody,
        response: { 200: successWithWarnings(200, Plan) },
      },
    },
    async (request) => {
      requireScope(request.caller, 'actions:write')
      const { plan, warnings } = await applyFile(applyingOf(request, parts), readFile(request.body))
      return ok(plan, { warnings })
    },
  )
}

/** Reads the file of a body. Its errors are named by their path in the file, and unknown keys are errors. */
function readFile({ definition, ...rest }: z.output<typeof PlanBody>): Wanted {
  return { ...rest, definition: checkPart(WorkflowFile, definition, 'definition', { exact: true }).value }
}

function requireScope(caller: Caller, scope: 'actions:read' | 'actions:write'): void {
  if (!caller.scopes.has(scope))
    throw new AppError(
      'INSUFFICIENT_SCOPE',
      `A workflow file holds actions, so it also needs the scope ${scope}`,
    )
}

const readerOf = (caller: Caller) => ({
  orgId: caller.orgId,
  memberId: caller.memberId,
  mayUse: (workflow: WorkflowFor) => mayUse(caller, workflow),
})

function applyingOf({ caller, db }: FastifyRequest, { catalogue, ...installation }: Parts): Applying {
  return {
    db,
    author: caller,
    catalogue,
    installation,
    mayUse: (workflow) => mayUse(caller, workflow),
    requireCreation: () => requireUnrestricted(caller),
  }
}
