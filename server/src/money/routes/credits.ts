import { z } from 'zod'
import { CreditsOverview, Ledger, type LedgerEntry, LedgerQuery } from '#contract/credits.ts'
import { success } from '#contract/envelope.ts'
import type { Caller } from '../../api/http/caller.ts'
import { ok } from '../../api/http/envelope.ts'
import type { Api } from '../../api/services.ts'
import { contentDisposition, nameByDays } from '../../files/exports/export-name.ts'
import { writeCsv } from '../../lib/csv/write.ts'
import { notFound } from '../../lib/errors.ts'
import { MILLIS } from '../store/credits.ts'
import {
  getOverview,
  type LedgerPage,
  type LedgerReach,
  type LedgerRecord,
  listLedger,
} from '../store/ledger.ts'

const tags = ['Credits']
const read = { scope: 'credits:read', narrowedKeys: 'allowed' } as const

export function creditRoutes(api: Api): void {
  api.get(
    '/credits',
    {
      config: read,
      schema: {
        tags,
        summary: 'Get the balance, the reserved credits and the recent spending',
        response: { 200: success(200, CreditsOverview) },
      },
    },
    async ({ db, caller }) => {
      const found = await getOverview(db, caller.orgId)
      if (found === undefined) throw notFound('Organisation')
      const { balance, held, today, month, prices } = found
      return ok({
        balance: balance / MILLIS,
        held: held / MILLIS,
        available: (balance - held) / MILLIS,
        spent_today: today / MILLIS,
        spent_this_month: month / MILLIS,
        price_version: prices,
      })
    },
  )

  api.get(
    '/credits/ledger',
    {
      config: read,
      schema: {
        tags,
        summary: 'List all granted, spent and refunded credits, newest first',
        querystring: LedgerQuery,
        response: { 200: z.union([success(200, Ledger), z.string().describe('With `format=csv`')]) },
      },
    },
    async ({ db, caller, query }, reply) => {
      const page = createPage(query)
      const records = await listLedger(db, caller.orgId, getLedgerReach(caller), {
        ...page,
        limit: page.limit + 1,
      })
      const entries = records.slice(0, page.limit).map(viewEntry)
      const next_cursor = records.length > page.limit ? (entries.at(-1)?.entry_id ?? null) : null
      if (query.format === 'json') return ok({ entries, next_cursor })
      if (next_cursor !== null) void reply.header('x-next-cursor', next_cursor)
      // A column for results would be nearly always empty.
      const lines = entries.map((entry) => ({
        ...entry,
        providers: JSON.stringify(entry.providers),
        result: null,
      }))
      void reply
        .type('text/csv; charset=utf-8')
        .header(
          'content-disposition',
          contentDisposition(nameByDays('ledger', entries.at(-1)?.at, entries[0]?.at), 'csv'),
        )
      return writeCsv(COLUMNS, lines)
    },
  )
}

const COLUMNS = Object.keys(Ledger.shape.entries.element.omit({ result: true }).shape)

const DAY_MS = 86_400_000
const isDay = (text: string) => text.length === 10

function createPage(query: z.infer<typeof LedgerQuery>): LedgerPage {
  const { from, to, type, run_id, workflow_id, cursor, limit } = query
  // A day counts up to its end, a time up to its millisecond.
  const before = to === undefined ? null : new Date(Date.parse(to) + (isDay(to) ? DAY_MS : 1))
  return {
    from: from === undefined ? null : new Date(from),
    before,
    type: type ?? null,
    runId: run_id ?? null,
    workflowId: workflow_id ?? null,
    after: cursor ?? null,
    limit,
  }
}

/**
 * Returns the ledger entries that a caller may see. Members see what they started and the cost of their workflows; a key
 * restricted to workflows sees the cost of those.
 */
export function getLedgerReach({ role, email, memberId, allowedWorkflowIds }: Caller): LedgerReach {
  return {
    member: role === 'admin' ? null : { email, id: memberId },
    workflows: allowedWorkflowIds,
  }
}

function viewEntry(record: LedgerRecord): z.infer<typeof LedgerEntry> {
  return {
    entry_id: record.entry_id,
    at: record.at.toISOString(),
    type: record.type,
    amount: record.amount_millis / MILLIS,
    balance: record.balance_millis / MILLIS,
    reason: record.reason,
    run_id: record.run_id,
    workflow_id: record.workflow_id,
    sheet_id: record.sheet_id,
    row_id: record.row_id,
    action_instance_id: record.action,
    action_id: record.action_id,
    member: record.member,
    key_id: record.key_id,
    trigger: record.trigger,
    price_version: record.price_version,
    refund_of: record.refund_of,
    providers: record.providers,
    ...viewLateResult(record),
  }
}

const LateDetails = z.object({ results: z.record(z.string(), z.unknown()) })

/** Returns the result of a cell whose row had been deleted by then. */
function viewLateResult({ details, action }: LedgerRecord): { result?: unknown } {
  const late = LateDetails.safeParse(details)
  return late.success && action !== null ? { result: late.data.results[action] } : {}
}
