import { MILLIS } from '../../store/organisation/credits.ts'
import type { Refusal } from '../../store/purses/take.ts'
import type { RunFacts } from '../flights/flight.ts'

/** What to do before the run is resumed. */
const REMEDIES = {
  max_credits: 'Resume the run with a higher max_credits',
  budget: 'Raise the budget or wait for its next period, then resume the run',
  balance: 'Grant credits, then resume the run',
}

/** Why a cell was not run: what it needs, what is left and of what, and how to go on (M6). */
export function describeRefusal(refusal: Refusal, what: string, run: RunFacts): string {
  const { kind, name, leftMillis, neededMillis } = refusal
  const of = kind === 'budget' ? `the budget "${name ?? ''}"` : kind === 'balance' ? 'the balance' : kind
  const { workflow_id, sheet_id, run_id } = run
  const resume = `POST /workflows/${workflow_id}/sheets/${sheet_id}/runs/${run_id}/resume`
  return `${what} may cost ${neededMillis / MILLIS} credits, and ${leftMillis / MILLIS} are left of ${of}. ${REMEDIES[kind]}: ${resume}`
}

/** As cells and runs say it. */
export const stopperOf = ({ kind, budgetId }: Refusal): { kind: Refusal['kind']; budget_id?: string } => ({
  kind,
  ...(budgetId === null ? {} : { budget_id: budgetId }),
})
