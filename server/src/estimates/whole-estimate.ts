import type { z } from 'zod'
import type { Warning } from '#contract/envelope.ts'
import type { Estimate } from '#contract/estimates.ts'
import { sum } from '../catalog/configuration/cell-price.ts'
import type { ConfigurationEnvironment } from '../catalog/configuration/environment.ts'
import type { Catalogue } from '../catalog/registry.ts'
import type { Db } from '../store/connection/db.ts'
import { MILLIS } from '../store/organisation/credits.ts'
import { getOverview } from '../store/organisation/ledger.ts'
import { estimateDownstream } from './downstream.ts'
import { type EstimateRequest, estimateSheet } from './estimate.ts'

type Limit = z.infer<typeof Estimate>['limits'][number]

export type EstimateParts = {
  /** At the prices of `version`. */
  catalogue: Catalogue
  version: number
  environment: ConfigurationEnvironment
  maxCredits: number | undefined
  /** What is left in the budgets that would stop the run. */
  budgets: readonly { budget_id: string; name: string; remaining: number }[]
}

/** What a run would cost, with what it sends on, and which limits cover that. */
export async function makeEstimate(
  db: Db,
  parts: EstimateParts,
  wanted: EstimateRequest,
): Promise<{ estimate: z.infer<typeof Estimate>; warnings: Warning[] }> {
  const { sheet } = wanted
  const { running, ...own } = await estimateSheet(db, parts, wanted)
  const downstream = await estimateDownstream(db, parts, wanted, { running })
  const isBounded = downstream.every(({ at_most }) => at_most !== null)
  const expected = sum([own.credits.expected, ...downstream.map((one) => one.expected)])
  const at_most = isBounded ? sum([own.credits.at_most, ...downstream.map((one) => one.at_most ?? 0)]) : null
  const { balance = 0, held = 0 } = (await getOverview(db, sheet.org_id)) ?? {}
  const free = (balance - held) / MILLIS
  const limitOf = (kind: Limit['kind'], remaining: number): Limit => {
    const covers =
      at_most !== null && at_most <= remaining ? 'at_most' : expected <= remaining ? 'expected' : 'none'
    return { kind, remaining, covers }
  }
  const limits = [
    ...(parts.maxCredits === undefined ? [] : [limitOf('max_credits', parts.maxCredits)]),
    ...parts.budgets.map(({ remaining, ...budget }) => ({ ...limitOf('budget', remaining), ...budget })),
    limitOf('balance', free),
  ]
  const estimate = {
    ...own,
    revision: sheet.revision,
    price_version: parts.version,
    credits: { ...own.credits, expected, at_most },
    downstream,
    balance: {
      now: balance / MILLIS,
      held: held / MILLIS,
      after_expected: sum([free, -expected]),
      after_at_most: at_most === null ? null : sum([free, -at_most]),
    },
    limits,
  }
  return { estimate, warnings: warningsOf(limits, downstream, isBounded) }
}

const LEFT = { max_credits: 'it may', budget: 'are left in a budget', balance: 'are left' }

function warningsOf(limits: readonly Limit[], downstream: readonly unknown[], isBounded: boolean): Warning[] {
  const exceeded = limits
    .filter(({ covers }) => covers !== 'at_most')
    .map(({ kind, remaining }) => ({
      field: kind === 'max_credits' ? 'max_credits' : 'body',
      code: `may_exceed_${kind}`,
      message: `the run may cost more than the ${remaining} credits that ${LEFT[kind]}`,
    }))
  const sends = {
    field: 'body',
    code: 'spends_downstream',
    message: 'rows that are sent on run there, and cost credits too',
  }
  const unbounded = {
    field: 'body',
    code: 'unbounded',
    message: 'how many rows are sent on, or where to, is only known when it runs',
  }
  return [...exceeded, ...(downstream.length > 0 ? [sends] : []), ...(isBounded ? [] : [unbounded])]
}
