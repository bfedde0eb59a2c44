import { z } from 'zod'
import { DateTime, Uuid } from './envelope.ts'
import { Credits, wholeNumber } from './numbers.ts'

export const MAX_LEDGER_PAGE = 1000
export const ENTRY_TYPES = ['grant', 'charge', 'refund'] as const

export const CreditsOverview = z
  .object({
    balance: Credits,
    held: Credits.describe('Reserved for cells, pulls and agent runs in progress'),
    available: Credits.describe('`balance` minus `held`'),
    spent_today: Credits.describe('Since midnight UTC, refunds deducted'),
    spent_this_month: Credits,
    price_version: z.int().describe('The version that Get Prices returns; runs queued now use it'),
  })
  .meta({ id: 'Credits' })

const Moment = z.union([z.iso.date(), z.iso.datetime({ offset: true })], {
  error: 'must be a day such as 2026-03-01, or a time in ISO 8601',
})

export const LedgerQuery = z.object({
  from: Moment.optional().describe('A day (UTC) or a time; inclusive'),
  to: Moment.optional().describe('A day (UTC) or a time; inclusive'),
  type: z.enum(ENTRY_TYPES).optional(),
  run_id: Uuid.optional(),
  workflow_id: Uuid.optional(),
  limit: wholeNumber(1, MAX_LEDGER_PAGE).default(100),
  cursor: Uuid.optional().describe('`next_cursor` of the previous page'),
  format: z.enum(['json', 'csv']).default('json'),
})

export const LedgerEntry = z
  .object({
    entry_id: Uuid,
    at: DateTime,
    type: z.enum(ENTRY_TYPES),
    amount: Credits.describe('Negative for a charge'),
    balance: Credits.describe('The balance after this entry'),
    reason: z.string(),
    run_id: Uuid.nullable(),
    workflow_id: Uuid.nullable(),
    sheet_id: Uuid.nullable(),
    row_id: Uuid.nullable(),
    action_instance_id: z.string().nullable(),
    action_id: z.string().nullable(),
    member: z.string().nullable().describe('The person who started it; otherwise the owner of the workflow'),
    key_id: Uuid.nullable(),
    trigger: z.string().nullable(),
    price_version: z.int().nullable(),
    refund_of: Uuid.nullable(),
    providers: z.array(z.object({ provider: z.string(), credits: Credits })),
    result: z
      .unknown()
      .optional()
      .describe('Outputs of a cell whose row was deleted or run again during the call; up to 32 KB'),
  })
  .meta({ id: 'LedgerEntry' })

export const Ledger = z.object({ entries: z.array(LedgerEntry), next_cursor: Uuid.nullable() })
