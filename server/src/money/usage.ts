import type { z } from 'zod'
import { MAX_USAGE_ROWS, type Usage, type UsageQuery } from '#contract/usage.ts'
import type { Db } from '../database/connection/db.ts'
import { MILLIS } from './store/credits.ts'
import type { LedgerReach } from './store/ledger.ts'
import { postCharges } from './store/limits/posting.ts'
import { getToday, listUsage, type UsageFigures, type UsageRecord } from './store/usage.ts'

export type UsageAsked = Omit<z.infer<typeof UsageQuery>, 'format'>

const DEFAULT_DAYS = 30
const DAY_MS = 86_400_000

/**
 * Returns the usage of an organisation over some days, with its groups in order. Spending that is not in the ledger yet is
 * entered first.
 */
export async function viewUsage(
  db: Db,
  orgId: string,
  reach: LedgerReach,
  asked: UsageAsked,
): Promise<z.infer<typeof Usage>> {
  await postCharges(db, orgId)
  const to = asked.to ?? chooseLater(asked.from, await getToday(db))
  const from = asked.from ?? subtractDays(to, DEFAULT_DAYS - 1)
  const { rows, totals } = await listUsage(db, orgId, reach, {
    from,
    to,
    groups: asked.group_by,
    filters: {
      workflowId: asked.workflow_id,
      actionId: asked.action_id,
      provider: asked.provider,
      member: asked.member?.toLowerCase(),
      keyId: asked.key_id,
      trigger: asked.trigger,
    },
    limit: MAX_USAGE_ROWS + 1,
  })
  return { from, to, group_by: asked.group_by, rows: rows.map(viewRow), totals: toCredits(totals) }
}

const chooseLater = (from: string | undefined, today: string): string =>
  from !== undefined && from > today ? from : today

const subtractDays = (day: string, days: number): string =>
  new Date(Date.parse(day) - days * DAY_MS).toISOString().slice(0, 10)

function toCredits({ credits, refunded, saved_by_cache, saved_by_own_keys, ...figures }: UsageFigures) {
  const { cells, cells_billed, cells_cached } = figures
  return {
    cells,
    cells_billed,
    cells_cached,
    credits: credits / MILLIS,
    refunded: refunded / MILLIS,
    saved_by_cache: saved_by_cache / MILLIS,
    saved_by_own_keys: saved_by_own_keys / MILLIS,
  }
}

function viewRow(record: UsageRecord) {
  const { is_total: _, ...row } = record
  return { ...row, ...toCredits(record) }
}
