import { z } from 'zod'
import type { CellDetail } from '#contract/runs.ts'
import { MILLIS } from '../../../money/store/credits.ts'
import type { CellRecord } from '../../../runs/store/runs.ts'

type Billing = NonNullable<z.infer<typeof CellDetail>['billing']>
type Line = Billing['lines'][number]

const Entry = z.object({
  provider: z.string(),
  status: z.string(),
  credits: z.number(),
  list_credits: z.number().optional(),
  message: z.string().optional(),
})
type Entry = z.infer<typeof Entry>

/** Explains the cost of a cell line by line, in the order in which providers were asked. */
export function viewBilling(cell: CellRecord): Billing {
  const entries = (cell.provenance ?? []).flatMap((given): Entry[] => {
    const entry = Entry.safeParse(given)
    return entry.success ? [entry.data] : []
  })
  const isCharged = cell.credits_millis > 0
  const lines = entries.map((entry): Line => {
    const { provider, status, list_credits = entry.credits } = entry
    // Providers asked before a cell failed cost nothing.
    const credits = isCharged ? entry.credits : 0
    return { provider, status, credits, list_credits, why: explainEntry(entry, isCharged) }
  })
  const rest = cell.credits_millis - addUp(lines.map(({ credits }) => credits))
  if (rest !== 0) {
    const credits = rest / MILLIS
    lines.push({
      provider: null,
      status: cell.status,
      credits,
      list_credits: credits,
      why: 'the price of the action',
    })
  }
  const { cached, stopped_by = null } = cell.billing ?? {}
  const ownKeys = cell.status === 'complete' ? entries.map(({ list_credits = 0 }) => list_credits) : []
  return {
    credits: cell.credits_millis / MILLIS,
    price_version: cell.price_version,
    entry_id: cell.entry_id,
    cached_from: cached === undefined ? null : { run_id: cached.run_id, at: cached.at },
    saved_by_cache: (cached?.millis ?? 0) / MILLIS,
    saved_by_own_keys: addUp(ownKeys) / MILLIS,
    stopped_by,
    lines,
  }
}

/** Adds credits and returns whole thousandths (D22). */
const addUp = (credits: readonly number[]): number =>
  credits.reduce((sum, part) => sum + Math.round(part * MILLIS), 0)

const REASONS: Record<string, string> = {
  hit: 'the provider gave the answer',
  answer: 'the provider gave the answer',
  unverified: 'the provider gave an answer that no verifier confirmed',
  invalid: "the provider's answer was rejected, which costs nothing",
  miss: 'the provider had no answer',
  unconfigured: 'the provider was not asked: there is no key for it',
  disabled: 'the provider was not asked: it is disabled',
  ineligible: 'the provider was not asked: it cannot work with these inputs',
  no_credits: "the provider's own account has no credits",
  rate_limited: 'the provider asked to be called later',
  error: 'the provider failed, which costs nothing',
}

function explainEntry({ status, credits, list_credits, message }: Entry, isCharged: boolean): string {
  if (list_credits !== undefined) return 'the call used your own key, which costs nothing'
  if (credits > 0 && !isCharged) return 'the cell has no result, which costs nothing'
  return REASONS[status] ?? message ?? status
}
