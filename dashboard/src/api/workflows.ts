import { queryOptions } from '@tanstack/react-query'
import type { z } from 'zod'
import type { ListedWorkflow } from '#contract/screens.ts'
import type {
  RosterSheet as RosterSheetSchema,
  WorkflowOverview as OverviewSchema,
} from '#contract/workflows.ts'
import { get } from './client.ts'

export type Workflow = ListedWorkflow
export type WorkflowOverview = z.infer<typeof OverviewSchema>
export type RosterSheet = z.infer<typeof RosterSheetSchema>

export const workflowsQuery = queryOptions({
  queryKey: ['workflows'],
  queryFn: ({ signal }) => get<Workflow[]>('/internal/workflows', signal),
})

export const overviewQuery = (workflowId: string) =>
  queryOptions({
    queryKey: ['workflows', workflowId],
    queryFn: ({ signal }) => get<WorkflowOverview>(`/workflows/${encodeURIComponent(workflowId)}`, signal),
  })
