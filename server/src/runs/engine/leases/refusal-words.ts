import { plural } from '../../../lib/plural.ts'
import { MILLIS } from '../../../money/store/credits.ts'
import type { Refusal } from '../../../money/store/limits/leasing.ts'
import type { RunFacts } from '../flights/flight.ts'

/** Says which limit is too low, what to do about it, and which call continues the run. */
type Words = { of: string; remedy: string; call: 'resume' | 'run' }

const MAX_CREDITS: Words = {
  of: 'max_credits',
  remedy: 'Resume the run with a higher max_credits',
  call: 'resume',
}

/** Remedies for a test, which has no run to resume. */
const TEST_REMEDIES: Record<Refusal['kind'], string> = {
  max_credits: 'Test again with a higher max_credits',
  budget: 'Raise the budget or wait for its next period, then test again',
  balance: 'Grant credits, then test again',
}

/** Words for caps that runs lease, by the first word of their subject. */
const SHARED: Record<string, Words> = {
  webhook: {
    of: 'max_credits_per_day of the webhook',
    remedy: 'Raise it, then resume the run without max_credits',
    call: 'resume',
  },
  source: {
    of: 'max_credits of a day of the source sync',
    remedy: 'Raise it for rows that arrive later, and run this row again',
    call: 'run',
  },
  segment: {
    of: 'max_credits of a cycle of the segment sync',
    remedy: 'Raise it for later cycles, and run this row again',
    call: 'run',
  },
}

function wordsOf({ kind, name, subject }: Refusal): Words {
  switch (kind) {
    case 'max_credits':
      return (subject === null ? undefined : SHARED[subject.split(' ')[0] ?? '']) ?? MAX_CREDITS
    case 'budget':
      return {
        of: `the budget "${name ?? ''}"`,
        remedy: 'Raise the budget or wait for its next period, then resume the run',
        call: 'resume',
      }
    case 'balance':
      return { of: 'the balance', remedy: 'Grant credits, then resume the run', call: 'resume' }
  }
}

/** Explains why a cell was not run: what it needs, what is left of which limit, and how to go on (M6). */
export function describeRefusal(refusal: Refusal, what: string, run: RunFacts): string {
  const { leftMillis, neededMillis } = refusal
  const { of, remedy, call } = wordsOf(refusal)
  const { workflow_id, sheet_id, run_id, trigger } = run
  const path = call === 'resume' ? `runs/${run_id}/resume` : 'run'
  const words = `${what} may cost ${plural(neededMillis / MILLIS, 'credit')}, and ${plural(leftMillis / MILLIS, 'is', 'are')} left of ${of}`
  if (trigger === 'test') return `${words}. ${TEST_REMEDIES[refusal.kind]}`
  return `${words}. ${remedy}: POST /workflows/${workflow_id}/sheets/${sheet_id}/${path}`
}

/** Returns what stopped a cell, as cells and runs show it. */
export const stopperOf = ({ kind, budgetId }: Refusal): { kind: Refusal['kind']; budget_id?: string } => ({
  kind,
  ...(budgetId === null ? {} : { budget_id: budgetId }),
})

/** Returns what a parked cell waits for, if other cells hold the credits that it needs (H12). */
export const waitingFor = (refusal: Refusal | null): { kind: Refusal['kind']; needed: number } | null =>
  refusal === null || refusal.isFinal ? null : { kind: refusal.kind, needed: refusal.neededMillis / MILLIS }
