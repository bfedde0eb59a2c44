import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { success, Uuid } from '#contract/envelope.ts'
import { SetVariableBody, Variable, VariableQuery } from '#contract/settings.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api, Services } from '../../../api/services.ts'
import { forbidden } from '../../../lib/errors.ts'
import { mayUse, requireWorkflow } from '../../../sheets/routes/workflows/resources.ts'
import { listWorkflows } from '../../../sheets/store/workflows.ts'
import { setEnv, unsetEnv } from '../../env-variables.ts'
import { type EnvScope, listEnv } from '../../store/env-variables.ts'

const Named = z.object({ key: z.string(), workflow_id: Uuid.nullable() })

/**
 * Adds the settings of variables: those of the organisation, which administrators set, and those of workflows
 * that the caller may use.
 */
export function environmentSettings(api: Api, { sealer }: Services): void {
  api.get(
    '/environment',
    { config: { scope: 'workflows:read' }, schema: { response: { 200: success(200, z.array(Variable)) } } },
    async ({ db, caller }) => {
      const [variables, workflows] = await Promise.all([
        listEnv(db, caller.orgId),
        listWorkflows(db, caller.orgId, caller.memberId),
      ])
      const names = new Map(
        workflows.filter((workflow) => mayUse(caller, workflow)).map((one) => [one.workflow_id, one.name]),
      )
      return ok(
        variables
          .filter(({ workflow_id }) => workflow_id === null || names.has(workflow_id))
          .map((variable) => ({
            ...variable,
            workflow_name: variable.workflow_id === null ? null : (names.get(variable.workflow_id) ?? null),
            updated_at: variable.updated_at.toISOString(),
          })),
      )
    },
  )

  api.put(
    '/environment',
    {
      config: { scope: 'workflows:write', body: 'document' },
      schema: { body: SetVariableBody, response: { 200: success(200, Named) } },
    },
    async (request) => {
      const { db, caller, body } = request
      const scope = await requireScope(request, body.workflow_id)
      await setEnv(db, sealer, caller, { scope, ...body })
      return ok({ key: body.key, workflow_id: scope.workflowId })
    },
  )

  api.delete(
    '/environment/:key',
    {
      config: { scope: 'workflows:write', body: 'control' },
      schema: {
        params: z.strictObject({ key: z.string() }),
        querystring: VariableQuery,
        response: { 200: success(200, Named) },
      },
    },
    async (request) => {
      const { db, caller, params, query } = request
      const scope = await requireScope(request, query.workflow_id ?? null)
      await unsetEnv(db, caller, scope, params.key)
      return ok({ key: params.key, workflow_id: scope.workflowId })
    },
  )
}

async function requireScope(request: FastifyRequest, workflowId: string | null): Promise<EnvScope> {
  const { orgId, role } = request.caller
  if (workflowId !== null) await requireWorkflow(request, workflowId)
  else if (role !== 'admin')
    throw forbidden('Only administrators may set variables of the whole organisation')
  return { orgId, workflowId }
}
