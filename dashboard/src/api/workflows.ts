import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'
import type { ListedWorkflow } from '#contract/screens.ts'
import type {
  RosterSheet as RosterSheetSchema,
  WorkflowOverview as OverviewSchema,
} from '#contract/workflows.ts'
import { call } from './calls.ts'
import { fetchData } from './client.ts'
import { keys } from './keys.ts'

export type Workflow = ListedWorkflow
export type WorkflowOverview = z.infer<typeof OverviewSchema>
export type RosterSheet = z.infer<typeof RosterSheetSchema>

export const workflowsQuery = queryOptions({
  queryKey: keys.workflows,
  queryFn: ({ signal }) => fetchData(call('GET /internal/workflows'), { signal }),
})

export const overviewQuery = (workflowId: string) =>
  queryOptions({
    queryKey: keys.workflow(workflowId),
    queryFn: ({ signal }) =>
      fetchData(call('GET /workflows/:workflow_id', { params: { workflow_id: workflowId } }), { signal }),
  })
