import type { ConfiguredWaterfall, WaterfallStep } from '../fields/waterfall-field.ts'
import type { Adapter } from '../provider/adapter.ts'
import type { AskContext } from '../provider/context.ts'
import { type Bill, FREE } from '../provider/waterfall-progress.ts'
import { type Check, runWaterfall, type Waterfall } from '../provider/waterfall-run.ts'
import { VERDICTS, type Verdict, type Verification } from '../questions/verification.ts'
import type { FoundEmail } from '../questions/work-email.ts'

type Rules = {
  /** The verifiers, and the steps for those that the caller named. The steps are empty if the caller named none. */
  named: ConfiguredWaterfall<Adapter<{ email: string }, Verification>>
  /** The verifiers for addresses that their finder did not verify, if the caller names none. */
  usual: readonly WaterfallStep[]
  acceptCatchAll: boolean
  context: AskContext
}

/**
 * Creates the check that decides whether a found address can be used. Named verifiers check every address. By default
 * only addresses that their finder does not vouch for are checked. If no verifier can tell, the finder's verdict
 * counts.
 */
export function checkEmails(rules: Rules): NonNullable<Waterfall<unknown, FoundEmail>['check']> {
  const { named, usual, context } = rules
  return async ({ value, verified }, spent, { state, checked }) => {
    const word = value.status ?? (verified ? 'valid' : 'unknown')
    const steps =
      named.steps.length > 0 ? named.steps : word === 'unknown' && value.status === undefined ? usual : []
    const conclude = (status: Verdict, { credits, provenance }: Bill): Check<FoundEmail> => ({
      kind: kindOf(status, rules),
      value: { ...value, status },
      credits,
      provenance,
    })
    if (steps.length === 0 || steps.some(({ provider }) => provider === 'none')) return conclude(word, FREE)
    const address = value.email.trim().toLowerCase()
    const earlier = readVerdict(checked[address])
    if (earlier !== undefined) return conclude(earlier === 'unknown' ? word : earlier, FREE)
    const input = { email: value.email }
    const result = await runWaterfall({ ...named, steps, input, context, state, spent })
    if (result.kind === 'pause') return result
    // A verifier that the caller chose was not called, and no other verdict replaces its own (D83).
    if (result.kind === 'out_of_credits')
      return conclude(named.steps.length > 0 ? 'unknown' : word, {
        credits: 0,
        provenance: result.provenance,
      })
    const verdict = result.kind === 'found' ? result.value.status : 'unknown'
    // One address is verified, and paid for, only once in a cell (D73).
    checked[address] = verdict
    const { credits, provenance } = result
    return conclude(verdict === 'unknown' ? word : verdict, { credits, provenance })
  }
}

function readVerdict(kept: unknown): Verdict | undefined {
  return VERDICTS.find((verdict) => verdict === kept)
}

function kindOf(status: Verdict, { acceptCatchAll }: Rules): 'verified' | 'unverified' | 'rejected' {
  if (status === 'valid' || (status === 'catch_all' && acceptCatchAll)) return 'verified'
  return status === 'invalid' || status === 'disposable' ? 'rejected' : 'unverified'
}
