import { z } from 'zod'
import { DateTime, Uuid } from './envelope.ts'
import { CacheSince } from './sheets.ts'
import { Name } from './text.ts'

/** The body of requests that set only a name. */
export const NameBody = z.strictObject({ name: Name })

export const Workflow = z
  .object({
    workflow_id: Uuid,
    name: z.string(),
    created_at: DateTime,
    updated_at: DateTime.describe('The latest configuration change'),
    last_run_at: DateTime.nullable().describe('The latest run started through this API'),
  })
  .meta({ id: 'Workflow' })

export const CreatedWorkflow = Workflow.pick({ workflow_id: true, name: true, created_at: true })
export const NamedWorkflow = Workflow.pick({ workflow_id: true, name: true })
export const DeletedWorkflow = z.object({ workflow_id: Uuid, deleted: z.literal(true) })

export const RosterSheet = z
  .object({
    sheet_id: Uuid,
    name: z.string(),
    is_main_sheet: z.boolean(),
    auto_run: z.boolean(),
    cache_enabled: z.boolean(),
    cache_since: CacheSince,
    webhook_url: z.string().nullable().describe('Null if the sheet has no webhook input'),
  })
  .meta({ id: 'RosterSheet' })

export const WorkflowOverview = Workflow.extend({
  is_owner: z.boolean(),
  shared_users: z.array(z.string()).describe('Email addresses; returned to the owner only'),
  sheets: z.array(RosterSheet).describe('The main sheet first, then by creation time'),
}).meta({ id: 'WorkflowOverview' })
