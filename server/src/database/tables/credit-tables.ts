import type { ColumnType, Generated, Selectable } from 'kysely'
import type { z } from 'zod'
import type { Budget } from '#contract/budgets.ts'
import type { PriceChange, Prices } from '#contract/prices.ts'
import type { Json, Made, MaybeInstant } from './column-types.ts'

/** An entry as the views of the ledger show it, including entries stored in blocks. */
type LedgerEntry = Selectable<CreditTables['credit_entries']>

/** Prices, the ledger, and what may still be spent. */
export type CreditTables = {
  price_versions: {
    version: number
    effective_at: Made
    changes: Json<PriceChange[]>
    prices: Json<Prices>
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
  credit_blocks: {
    org_id: string
    first_id: string
    last_id: string
    entries: number
    at: Date
    millis: number
    balance_millis: number
    purse_ids: string[]
    reason: string
    details: Record<string, unknown> | null
    run_id: string | null
    workflow_id: string | null
    sheet_id: string | null
    member: string | null
    key_id: string | null
    trigger: string | null
    price_version: number | null
    kinds: unknown[]
    row_ids: (string | null)[]
    kind_of: number[]
  }
  /** The view of all entries. */
  ledger_entries: LedgerEntry
  /** The view of the entries stored in blocks. */
  block_entries: LedgerEntry & { block_id: string }
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
    kinds: Json<unknown[]>
    row_ids: (string | null)[]
    kind_of: number[]
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
}
