import type { ColumnType, Generated } from 'kysely'
import type { z } from 'zod'
import type { Budget } from '#contract/budgets.ts'
import type { ExportFormat } from '#contract/exports.ts'
import type { PriceChange, Prices } from '#contract/prices.ts'
import type { CellStatus, RunAfter } from '#contract/rows.ts'
import type { OnlyRows } from '#contract/runs.ts'
import type { SheetLayout } from '#contract/sheet-layout.ts'
import type { Definition, InputType } from '../../chain/definition.ts'
import type {
  DiscoveredOutput,
  ExportPlan,
  ExportSelection,
  FrozenInput,
  FrozenOutput,
  Mismatches,
} from './json-columns.ts'

type Instant = ColumnType<Date, Date | string, Date | string>
type MaybeInstant = ColumnType<Date | null, Date | string | null | undefined, Date | string | null>
type Made = ColumnType<Date, Date | string | undefined, never>
type Json<T> = ColumnType<T, string | undefined, string>
type MaybeJson<T> = ColumnType<T | null, string | null | undefined, string | null>

/** How far a pull of a source has come. The state is its definition's own. */
export type SourceWalk = {
  state: unknown
  progress: { pages: number; empty: number; landmark: string }
  started_at: string
  counts: PullCounts
  /** Records are only noted, not imported: the first pull of a source that is to import what comes from now on. */
  notes?: true
}

export type PullCounts = { new: number; updated: number; unchanged: number; skipped: number; pages: number }

/** What the last finished pull came to. */
export type LastPull = PullCounts & { started_at: string; finished_at: string; note: string | null }

export type SourceFault = { at: string; message: string; hint: string }

export type SourceStatus = 'active' | 'completed' | 'paused' | 'paused_out_of_credits' | 'expired' | 'deleted'

/** A field of records on its way into a column of the sheet. */
export type MappedField = { input: string; column: number; field: string }

export type OnChange = 'ignore' | 'update' | 'update_and_run'

/** A column of a file on its way into a column of a sheet. Imports queued before 0025 say nothing about the input. */
export type MappedColumn = { header: string; column: number; name?: string; type?: InputType }

export type Schema = {
  settings: { name: string; value: Json<unknown> }
  organisations: {
    org_id: string
    name: string
    credits_millis: Generated<number>
    held_millis: Generated<number>
    created_at: Made
  }
  price_versions: {
    version: number
    effective_at: Made
    changes: Json<PriceChange[]>
    prices: Json<Prices>
  }
  agent_runs: {
    org_id: string
    agent_run_id: string
    request_id: string
    member_id: string
    key_id: string | null
    state: Generated<'running' | 'answered' | 'failed'>
    price_millis: number
    model: ColumnType<string | null, string | null | undefined, string | null>
    prompt: string
    error: ColumnType<string | null, string | null | undefined, string | null>
    answer: Json<unknown>
    trace: Json<unknown>
    spent: Json<unknown>
    started_at: Made
    ended_at: MaybeInstant
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
    is_session: Generated<boolean>
    browser: Generated<string | null>
  }
  sign_in_links: { token_hash: Buffer; org_id: string; member_id: string; expires_at: Instant }
  sheet_layouts: {
    org_id: string
    sheet_id: string
    member_id: string
    layout: Json<SheetLayout>
    updated_at: Instant
  }
  sign_in_windows: { address_hash: Buffer; hour: Instant; used: number }
  idempotency_keys: {
    org_id: string
    member_id: string
    key: string
    fingerprint: Buffer
    status: number | null
    body: string | null
    agent_run_id: string | null
    created_at: Made
  }
  mail_windows: {
    org_id: string
    hour: Made
    used: number
  }
  provider_tallies: {
    org_id: string
    day: string
    action: string
    provider: string
    asked: number
    found: number
    verified: number
    credits_millis: number
    times: number[]
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
    type: Generated<'grant' | 'charge' | 'refund'>
    run_id: string | null
    workflow_id: string | null
    sheet_id: string | null
    row_id: string | null
    action: string | null
    action_id: string | null
    member: string | null
    key_id: string | null
    trigger: string | null
    refund_of: string | null
    price_version: number | null
    providers: Json<{ provider: string; credits: number }[]>
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
  deleted_rows: {
    org_id: string
    sheet_id: string
    row_id: string
    seq: number
    record: string
    cells: string[]
    deleted_at: ColumnType<Date, Date | undefined, Date>
  }
  row_edits: {
    org_id: string
    sheet_id: string
    member_id: string
    edit_id: string
    part: number
    changes: Json<unknown[]>
    undone: Generated<boolean>
    made_at: Made
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
    key_id: string | null
    price_version: Generated<number>
    cap_purse_id: ColumnType<string | null, string | null | undefined, string | null>
    member: ColumnType<string | null, string | null | undefined, string | null>
    created_at: Made
    finished_at: MaybeInstant
  }
  purses: {
    org_id: string
    purse_id: string
    kind: 'cap' | 'budget'
    limit_millis: number | null
    spent_millis: Generated<number>
    granted_millis: Generated<number>
    budget_id: ColumnType<string | null, string | null | undefined, never>
    period_start: ColumnType<Date | null, Date | null | undefined, never>
    run_id: ColumnType<string | null, string | null | undefined, never>
    subject: ColumnType<string | null, string | null | undefined, never>
    refused_at: MaybeInstant
    created_at: Made
  }
  purse_shares: {
    org_id: string
    purse_id: string
    holder: string
    lasting: Generated<boolean>
    granted_millis: number
  }
  purse_charges: {
    org_id: string
    charge_id: Generated<number>
    holder: string
    purse_ids: string[]
    millis: number
    at: Made
    facts: Json<Record<string, unknown>>
    entries: Json<unknown[]>
  }
  run_holds: { org_id: string; run_id: string; holder: string; held_millis: number }
  budgets: {
    org_id: string
    budget_id: string
    name: string
    scope: 'organisation' | 'member' | 'key' | 'workflow' | 'sheet'
    subject: string | null
    trigger: z.infer<typeof Budget>['trigger']
    period: 'run' | 'day' | 'month' | 'total'
    limit_millis: number
    mode: 'stop' | 'warn'
    thresholds: Generated<number[]>
    emails: Generated<string[]>
    webhook_url: string | null
    secret_sealed: string | null
    created_at: Made
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
    retries: Generated<number>
    state: Json<unknown>
  }
  action_outputs: { org_id: string; sheet_id: string; action: string; outputs: Json<DiscoveredOutput[]> }
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
    created_at: Made
  }
  env_variables: {
    org_id: string
    workflow_id: string | null
    key: string
    value_sealed: string
    updated_by: string
    updated_at: ColumnType<Date, Date | undefined, Date>
  }
  connections: {
    org_id: string
    connection_id: string
    provider: string
    name: string
    owner_id: string | null
    shared: boolean
    fields_sealed: string
    token_sealed: string | null
    token_expires_at: MaybeInstant
    token_claim: string | null
    token_claimed_until: MaybeInstant
    created_at: Made
  }
  purges: { org_id: string; sheet_id: string; below_seq: number; created_at: Made }
  exports: {
    org_id: string
    export_id: string
    sheet_id: string
    member_id: string
    format: ExportFormat
    file_name: string
    selection: Json<ExportSelection>
    plan: Json<ExportPlan>
    below_seq: number
    status: Generated<'running' | 'completed' | 'failed'>
    attempt: Generated<number>
    progress: Generated<number>
    row_count: Generated<number>
    size_bytes: number | null
    error: string | null
    started_at: Made
    completed_at: MaybeInstant
  }
  files: {
    org_id: string
    file_ref: string
    kind: string
    name: string
    size_bytes: number | null
    created_by: string
    created_at: Made
    used_at: MaybeInstant
    expires_at: Instant
  }
  imports: {
    org_id: string
    import_id: string
    sheet_id: string
    file_ref: string
    sheet_name: string | null
    mapping: Json<MappedColumn[]>
    run_after: z.infer<typeof RunAfter>
    status: Generated<'processing' | 'completed' | 'failed'>
    rows_imported: Generated<number>
    chunks: Generated<number>
    position: Json<unknown>
    starts: Generated<number>
    mismatches: Json<Mismatches[]>
    error: string | null
    created_by: string
    key_id: string | null
    cap_purse_id: string | null
    created_at: Made
    finished_at: MaybeInstant
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
  sources: {
    org_id: string
    instance_id: string
    slug: string
    name: string
    body: Json<Record<string, unknown>>
    provider: string
    connection: string | null
    owner_id: string | null
    created_by: string
    schedule: string | null
    cron: string | null
    stop_at: MaybeInstant
    pull_existing: Generated<boolean>
    max_records: number | null
    max_credits_millis: number | null
    status: Generated<SourceStatus>
    lead_count: Generated<number>
    change_count: Generated<number>
    price_millis: Generated<number>
    spent_millis: Generated<number>
    held_millis: Generated<number>
    version: Generated<number>
    claimed_until: MaybeInstant
    walk: MaybeJson<SourceWalk>
    resume: MaybeJson<unknown>
    failures: Generated<number>
    next_pull_at: MaybeInstant
    last_pull: MaybeJson<LastPull>
    last_error: MaybeJson<SourceFault>
    received_count: Generated<number>
    unresolved_count: Generated<number>
    received_at: MaybeInstant
    created_at: Made
  }
  source_tokens: {
    org_id: string
    instance_id: string
    kind: 'pixel' | 'webhook'
    token_hash: Buffer
    token_sealed: string
  }
  source_inbox: {
    org_id: string
    instance_id: string
    item_no: Generated<number>
    at: Made
    sealed: string
  }
  source_visits: {
    org_id: string
    instance_id: string
    visit: string
    at: Made
  }
  source_lookups: {
    org_id: string
    subject: string
    found: MaybeJson<Record<string, unknown>>
    price_millis: number
    at: Made
  }
  source_records: {
    org_id: string
    instance_id: string
    key: string
    seq: number | null
    change_no: number | null
    data: Json<Record<string, unknown>>
    hash: string
    first_seen_at: Made
    last_seen_at: ColumnType<Date, Date | undefined, Date>
  }
  source_syncs: {
    org_id: string
    instance_id: string
    workflow_id: string
    mapping: Json<MappedField[]>
    push_existing: boolean
    on_change: Generated<OnChange>
    after_seq: Generated<number>
    position: Generated<number>
    seen_change: Generated<number>
    delivered: Generated<number>
    created_by: string
    max_credits_millis: number | null
    created_at: Made
    updated_at: ColumnType<Date, Date | undefined, Date>
  }
  source_deliveries: {
    org_id: string
    instance_id: string
    workflow_id: string
    key: string
    row_id: string
  }
}
