import type { ColumnType, Generated } from 'kysely'
import type { OnlyRows } from '#contract/runs.ts'
import type { FrozenInput, FrozenOutput } from '../connection/json-columns.ts'
import type { Instant, Json, Made, MaybeInstant } from './column-types.ts'

/** Runs, and what starts them. */
export type RunTables = {
  runs: {
    org_id: string
    run_id: string
    sheet_id: string
    trigger: string
    selector: Json<unknown>
    revision: number
    actions: string[]
    cache_enabled: boolean
    cache_since: string | null
    continue_on_fail: boolean
    hops: Generated<number>
    rows_queued: Generated<number>
    /** The rows that are still to be enqueued; see runs/launch-pieces.ts. */
    unlaunched: Json<unknown>
    state: Generated<'running' | 'finished' | 'stopped'>
    created_by: string
    key_id: string | null
    price_version: Generated<number>
    cap_purse_id: ColumnType<string | null, string | null | undefined, string | null>
    member: ColumnType<string | null, string | null | undefined, string | null>
    created_at: Made
    finished_at: MaybeInstant
  }
  run_tallies: {
    org_id: string
    run_id: string
    lane: number
    cells_done: number
    cells_failed: number
    rows_done: number
    credits_millis: number
    rows_out_of_credits: Generated<number>
    rows_failed: Generated<number>
    cells_skipped: Generated<number>
    cells_kept: Generated<number>
    stopped_by: ColumnType<
      { kind: string; budget_id?: string } | null,
      string | null | undefined,
      string | null
    >
  }
  flights: {
    org_id: string
    sheet_id: string
    row_id: string
    run_id: string
    status: 'queued' | 'running'
    ticket: Generated<number>
    attempt: Generated<number>
    strikes: Generated<number>
    settled: Generated<number>
    tested_in: number | null
    skipped: Generated<number>
    waiting: Json<unknown>
    retries: Generated<number>
    state: Json<unknown>
  }
  webhooks: {
    org_id: string
    sheet_id: string
    token_hash: Buffer
    token_sealed: string
    enabled: Generated<boolean>
    max_credits_millis: number | null
    created_at: Made
  }
  webhook_deliveries: {
    org_id: string
    sheet_id: string
    delivery_no: Generated<number>
    at: Made
    status: number
    webhook_id: string | null
    accepted: number
    rejected: number
    reason: string | null
    body: string
  }
  schedules: {
    org_id: string
    sheet_id: string
    cron: string
    timezone: string
    next_run_at: Instant
    only_rows: OnlyRows | null
    max_credits_millis: number | null
    view_id: string | null
    created_at: Made
  }
  shortcuts: {
    org_id: string
    shortcut_id: string
    workflow_id: string
    parent_id: string | null
    holder_id: string | null
    creator_id: string | null
    creator_email: string
    name: string
    description: Generated<string>
    cover_image: string | null
    icon_emoji: string | null
    version: Generated<number>
    is_published: Generated<boolean>
    is_archived: Generated<boolean>
    created_at: Made
    updated_at: ColumnType<Date, Date | undefined, Date>
  }
  shortcut_versions: {
    org_id: string
    shortcut_id: string
    version: number
    revision: number
    continue_on_fail: boolean
    inputs: Json<FrozenInput[]>
    outputs: Json<FrozenOutput[]>
    inputs_given: boolean
    outputs_given: boolean
    created_by: string
    created_at: Made
  }
}
