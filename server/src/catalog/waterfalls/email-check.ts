import type { WaterfallStep } from '../fields/waterfall-field.ts'
import type { Adapter, AskContext } from '../provider/adapter.ts'
import { type Bill, type Check, runWaterfall, type Waterfall } from '../provider/waterfall-run.ts'
import type { Verdict, Verification } from '../questions/verification.ts'
import type { FoundEmail } from '../questions/work-email.ts'

type Rules = {
  /** Those whom the caller named; nobody when the question is left open. */
  named: readonly WaterfallStep[]
  /** Who is asked about addresses that their finder did not verify, when nobody is named. */
  usual: readonly WaterfallStep[]
  verifiers: readonly Adapter<{ email: string }, Verification>[]
  acceptCatchAll: boolean
  context: AskContext
}

/**
 * Whether an address that was found can be used. Verifiers that are named check every address; by default only those are
 * checked that their finder does not vouch for. Where no verifier can tell, the finder's word stands.
 */
export function checkEmails(rules: Rules): NonNullable<Waterfall<unknown, FoundEmail>['check']> {
  const { named, usual, verifiers, context } = rules
  return async ({ value, verified }, spent, state): Promise<Check<FoundEmail>> => {
    const word = value.status ?? (verified ? 'valid' : 'unknown')
    const steps = named.length > 0 ? named : word === 'unknown' && value.status === undefined ? usual : []
    const judge = (status: Verdict, bill: Bill): Check<FoundEmail> => ({
      kind: kindOf(status, rules),
      value: { ...value, status },
      ...bill,
    })
    if (steps.length === 0 || steps.some(({ provider }) => provider === 'none')) return judge(word, FREE)
    const input = { email: value.email }
    const fall = await runWaterfall({ steps, adapters: verifiers, input, context, state, spent })
    if (fall.kind === 'pause') return fall
    if (fall.kind === 'out_of_credits') return judge(word, { credits: 0, provenance: fall.provenance })
    const told = fall.kind === 'found' && fall.value.status !== 'unknown' ? fall.value.status : word
    return judge(told, { credits: fall.credits, provenance: fall.provenance })
  }
}

const FREE: Bill = { credits: 0, provenance: [] }

function kindOf(status: Verdict, { acceptCatchAll }: Rules): 'verified' | 'unverified' | 'rejected' {
  if (status === 'valid' || (status === 'catch_all' && acceptCatchAll)) return 'verified'
  return status === 'invalid' || status === 'disposable' ? 'rejected' : 'unverified'
}
