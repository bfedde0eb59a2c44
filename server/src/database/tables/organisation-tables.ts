import type { ColumnType, Generated } from 'kysely'
import type { Instant, Json, Made, MaybeInstant } from './column-types.ts'

/** Organisations, their people and keys, and what they keep. */
export type OrganisationTables = {
  settings: { name: string; value: Json<unknown> }
  organisations: {
    org_id: string
    name: string
    credits_millis: Generated<number>
    held_millis: Generated<number>
    created_at: Made
  }
  members: {
    org_id: string
    member_id: string
    email: string
    first_name: string | null
    last_name: string | null
    role: string
    joined_at: Made
    confirmed_at: MaybeInstant
  }
  invitations: {
    org_id: string
    email: string
    role: string
    token_hash: Buffer
    token_sealed: string
    email_sent: Generated<boolean>
    is_mailed: Generated<boolean>
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
    is_verified: Generated<boolean>
  }
  sign_in_links: {
    token_hash: Buffer
    org_id: string
    member_id: string
    expires_at: Instant
    is_mailed: Generated<boolean>
  }
  sign_in_windows: { address_hash: Buffer; hour: Instant; used: number }
  idempotency_keys: {
    org_id: string
    member_id: string
    key_id: string
    key: string
    fingerprint: Buffer
    status: number | null
    body: Generated<string | null>
    body_sealed: string | null
    run_id: string | null
    agent_run_id: string | null
    claim_id: Generated<string | null>
    leased_until: MaybeInstant
    created_at: Made
  }
  mail_windows: {
    org_id: string
    hour: Made
    used: number
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
  org_knowledge: { org_id: string; content: string; updated_at: Instant }
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
  mail_outbox: {
    org_id: string
    message_id: string
    email: string
    subject: string
    content: string
    tries: Generated<number>
    due_at: MaybeInstant
    error: string | null
    made_at: Made
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
}
