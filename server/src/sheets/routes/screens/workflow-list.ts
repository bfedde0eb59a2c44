import { z } from 'zod'
import { success } from '#contract/envelope.ts'
import { ListedWorkflow } from '#contract/screens.ts'
import { ok } from '../../../api/http/envelope.ts'
import type { Api } from '../../../api/services.ts'
import { listWorkflowsWithRuns } from '../../store/workflow-list.ts'
import { isOwner, mayUse } from '../workflows/resources.ts'

/** Registers the list of workflows with their owners and latest runs, in one response. */
export function workflowListRoutes(api: Api): void {
  api.get(
    '/workflows',
    {
      config: { scope: 'workflows:read' },
      schema: { response: { 200: success(200, z.array(ListedWorkflow)) } },
    },
    async ({ caller, db }) => {
      const all = await listWorkflowsWithRuns(db, caller.orgId, caller.memberId)
      const shown = all.filter((workflow) => mayUse(caller, workflow))
      return ok(
        shown.map(({ last_run, ...workflow }) => ({
          workflow_id: workflow.workflow_id,
          name: workflow.name,
          created_at: workflow.created_at.toISOString(),
          updated_at: workflow.updated_at.toISOString(),
          owner: workflow.owner,
          is_owner: isOwner(caller, workflow),
          shared_with: workflow.shared_with,
          last_run: last_run === null ? null : { ...last_run, at: new Date(last_run.at).toISOString() },
        })),
      )
    },
  )
}
