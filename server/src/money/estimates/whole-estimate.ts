import type { z } from 'zod'
import type { Warning } from '#contract/envelope.ts'
import type { Estimate } from '#contract/estimates.ts'
import { sum } from '../../catalog/configuration/cell-price.ts'
import type { ConfigurationEnvironment } from '../../catalog/configuration/environment.ts'
import type { Catalogue } from '../../catalog/registry.ts'
import type { Db } from '../../database/connection/db.ts'
import { plural } from '../../lib/plural.ts'
import { MILLIS } from '../store/credits.ts'
import { getOverview } from '../store/ledger.ts'
import { estimateDownstream } from './downstream.ts'
import { type EstimateRequest, estimateSheet } from './estimate.ts'
import { mergeEstimates } from './merge-estimates.ts'

type Whole = z.infer<typeof Estimate>
type Limit = Whole['limits'][number]

/** The limits of an estimate beside the balance. */
export type SpendingLimits = {
  /** The credits left of the cap. */
  maxCredits: number | undefined
  /** The credits left in the budgets that would stop the run. */
  budgets: readonly { budget_id: string; name: string; remaining: number }[]
}

export type EstimateParts = SpendingLimits & {
  /** The catalogue with the prices of `version`. */
  catalogue: Catalogue
  version: number
  environment: ConfigurationEnvironment
}

export type EstimateAnswer = { estimate: Whole; warnings: Warning[] }

/**
 * Estimates what a run costs, including rows that it sends on, and which limits cover the cost. Parts of the run may begin at
 * different actions.
 */
export async function makeEstimate(
  db: Db,
  parts: EstimateParts,
  first: EstimateRequest,
  ...others: readonly EstimateRequest[]
): Promise<EstimateAnswer> {
  const own = [await estimateSheet(db, parts, first)]
  const downstream = await estimateDownstream(db, parts, { ...first, running: own[0]?.running ?? new Map() })
  for (const wanted of others) {
    const further = await estimateSheet(db, parts, wanted)
    own.push(further)
    downstream.push(...(await estimateDownstream(db, parts, { ...wanted, running: further.running })))
  }
  const { running: _, ...costs } = mergeEstimates(own)
  const isBounded = downstream.every(({ at_most }) => at_most !== null)
  const expected = sum([costs.credits.expected, ...downstream.map((one) => one.expected)])
  const at_most = isBounded
    ? sum([costs.credits.at_most, ...downstream.map((one) => one.at_most ?? 0)])
    : null
  return addLimits(db, first.sheet.org_id, parts, {
    ...costs,
    revision: first.sheet.revision,
    price_version: parts.version,
    credits: { ...costs.credits, expected, at_most },
    downstream,
  })
}

/** Adds to the costs the balance, and whether each limit covers them. */
export async function addLimits(
  db: Db,
  orgId: string,
  { maxCredits, budgets }: SpendingLimits,
  costs: Omit<Whole, 'balance' | 'limits'>,
): Promise<EstimateAnswer> {
  const { expected, at_most } = costs.credits
  const { balance = 0, held = 0 } = (await getOverview(db, orgId)) ?? {}
  const free = (balance - held) / MILLIS
  const viewLimit = (kind: Limit['kind'], remaining: number): Limit => {
    const covers =
      at_most !== null && at_most <= remaining ? 'at_most' : expected <= remaining ? 'expected' : 'none'
    return { kind, remaining, covers }
  }
  const limits = [
    ...(maxCredits === undefined ? [] : [viewLimit('max_credits', maxCredits)]),
    ...budgets.map(({ remaining, ...budget }) => ({ ...viewLimit('budget', remaining), ...budget })),
    viewLimit('balance', free),
  ]
  const estimate = {
    ...costs,
    balance: {
      now: balance / MILLIS,
      held: held / MILLIS,
      after_expected: sum([free, -expected]),
      after_at_most: at_most === null ? null : sum([free, -at_most]),
    },
    limits,
  }
  return { estimate, warnings: listWarnings(limits, costs.downstream, at_most) }
}

const LEFT = { max_credits: 'max_credits allows', budget: 'are left in a budget', balance: 'are left' }

function listWarnings(
  limits: readonly Limit[],
  downstream: readonly unknown[],
  atMost: number | null,
): Warning[] {
  const exceeded = limits
    .filter(({ covers }) => covers !== 'at_most')
    .map(({ kind, remaining }) => ({
      field: kind === 'max_credits' ? 'max_credits' : 'body',
      code: `may_exceed_${kind}`,
      message: `the run may cost more than the ${plural(remaining, 'credit')} that ${LEFT[kind]}`,
    }))
  const sends = {
    field: 'body',
    code: 'spends_downstream',
    message: 'the run sends rows to other sheets; they run there and cost credits too',
  }
  const unbounded = {
    field: 'body',
    code: 'unbounded',
    message:
      downstream.length > 0
        ? 'the number of rows sent to other sheets, or their target, is only known when the run sends them'
        : 'the number of records is only known when they arrive; max_credits and max_count limit their cost',
  }
  return [...exceeded, ...(downstream.length > 0 ? [sends] : []), ...(atMost === null ? [unbounded] : [])]
}
