import type { ColumnType, Generated } from 'kysely'
import type { Json, Made, MaybeInstant, MaybeJson } from './column-types.ts'

/** The progress of a pull of a source. The definition of the source decides what `state` holds. */
export type SourceWalk = {
  state: unknown
  progress: { pages: number; empty: number; landmark: string }
  started_at: string
  counts: PullCounts
  /**
   * Set if records are only noted, not imported: the first pull of a source that imports only what comes from now on.
   */
  notes?: true
}

export type PullCounts = { new: number; updated: number; unchanged: number; skipped: number; pages: number }

/** The result of the last finished pull. */
export type LastPull = PullCounts & { started_at: string; finished_at: string; note: string | null }

export type SourceFault = { at: string; message: string; hint: string }

export type SourceStatus = 'active' | 'completed' | 'paused' | 'paused_out_of_credits' | 'expired' | 'deleted'

/** A field of a source's records and the column of the sheet that it fills. */
export type MappedField = {
  input: string
  column: number
  field: string
  /** The last change number up to which no record has the field. Nothing is delivered until a record has it. */
  absent_to?: number
  /**
   * Rows delivered under an earlier mapping are still to be filled: those of records whose change number is above
   * this one.
   */
  fill_after?: number
}

export type OnChange = 'ignore' | 'update' | 'update_and_run'

/** Sources, their records, and the syncs into workflows. */
export type SourceTables = {
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
