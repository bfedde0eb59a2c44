import type { ColumnType, Generated } from 'kysely'
import type { OutputType } from '#contract/actions.ts'
import type { CellStatus } from '#contract/rows.ts'
import type { Definition } from '../chain/definition.ts'

type Instant = ColumnType<Date, Date | string, Date | string>
type MaybeInstant = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>
type Made = ColumnType<Date, Date | string | undefined, never>
type Json<T> = ColumnType<T, string | undefined, string>

/** An output that a run has shown. */
export type DiscoveredOutput = {
  name: string
  type: OutputType
  columns?: { name: string; type: OutputType }[]
  anyType?: true
}

export type Schema = {
  settings: { name: string; value: Json<unknown> }
  organisations: {
    org_id: string
    name: string
    credits_millis: Generated<number>
    held_millis: Generated<number>
    created_at: Made
  }
  org_knowledge: { org_id: string; content: string; updated_at: Instant }
  members: {
    org_id: string
    member_id: string
    email: string
    first_name: string | null
    last_name: string | null
    role: string
    joined_at: Made
  }
  invitations: {
    org_id: string
    email: string
    role: string
    token_hash: Buffer
    token_sealed: string
    email_sent: Generated<boolean>
    invited_by: string
    created_at: Made
  }
  api_keys: {
    org_id: string
    key_id: string
    member_id: string | null
    hash: Buffer
    last4: string
    scopes: string[] | null
    allowed_workflow_ids: string[] | null
    per_minute: number | null
    per_day: number | null
    created_at: Made
    expires_at: MaybeInstant
    revoked_at: MaybeInstant
    last_used_at: MaybeInstant
    rotated_from: string | null
  }
  idempotency_keys: {
    org_id: string
    member_id: string
    key: string
    fingerprint: Buffer
    status: number | null
    body: string | null
    created_at: Made
  }
  audit_entries: {
    org_id: string
    entry_id: string
    at: Made
    actor: string
    key_id: string | null
    action: string
    target: string
    details: Json<Record<string, unknown>>
  }
  credit_entries: {
    org_id: string
    entry_id: string
    at: Made
    amount_millis: number
    balance_millis: number
    reason: string
    details: Json<Record<string, unknown>>
  }
  workflows: {
    org_id: string
    workflow_id: string
    name: string
    owner_id: string | null
    created_at: Made
    updated_at: ColumnType<Date, Date | undefined, Date>
    last_run_at: MaybeInstant
    deleted_at: MaybeInstant
  }
  workflow_shares: { org_id: string; workflow_id: string; member_id: string; created_at: Made }
  sheets: {
    org_id: string
    sheet_id: string
    workflow_id: string
    name: string
    position: number
    owner_id: string | null
    auto_run: Generated<boolean>
    cache_enabled: Generated<boolean>
    cache_since: string | null
    continue_on_fail: Generated<boolean>
    revision: Generated<number>
    next_column: Generated<number>
    action_serials: Json<Record<string, number>>
    created_at: Made
    deleted_at: MaybeInstant
  }
  chain_revisions: {
    org_id: string
    sheet_id: string
    revision: number
    definition: Json<Definition>
    created_by: string
    created_at: Made
  }
  sheet_counters: {
    org_id: string
    sheet_id: string
    first_seq: Generated<number>
    next_seq: Generated<number>
    deleted: Generated<number>
  }
  rows: { org_id: string; sheet_id: string; row_id: string; seq: number; data: Json<unknown> }
  row_gaps: { org_id: string; sheet_id: string; block: number; deleted: number }
  cells: {
    org_id: string
    sheet_id: string
    row_id: string
    action: string
    status: CellStatus
    outputs: Json<Record<string, unknown> | null>
    error: string | null
    run_id: string
    revision: number
    attempts: number
    credits_millis: number
    cached: boolean
    provenance: Json<unknown>
    learns: Generated<boolean>
    started_at: Instant
    completed_at: Made
  }
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
    state: Generated<'running' | 'finished' | 'stopped'>
    created_by: string
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
  }
  flights: {
    org_id: string
    sheet_id: string
    row_id: string
    run_id: string
    action: string
    status: 'queued' | 'running'
    ticket: Generated<number>
    attempt: Generated<number>
    retries: Generated<number>
    held_millis: Generated<number>
    state: Json<unknown>
  }
  action_outputs: { org_id: string; sheet_id: string; action: string; outputs: Json<DiscoveredOutput[]> }
  purges: { org_id: string; sheet_id: string; below_seq: number; created_at: Made }
}
