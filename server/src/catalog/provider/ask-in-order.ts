import type { ConfiguredWaterfall } from '../fields/waterfall-field.ts'
import type { Outcome } from '../outcome.ts'
import type { Adapter } from './adapter.ts'
import type { CellContext } from './context.ts'
import { runWaterfall, type Waterfall, type WaterfallResult } from './waterfall-run.ts'

/** Makes outputs from the answer of a provider. */
type ReadAnswer<Result, Outputs> = (found: { value: Result; verified: boolean; provider: string }) => Outputs

/** Asks providers one question in order, and returns the action's outcome with outputs made from the answer. */
export function askInOrder<Input, Result, Outputs>(
  { adapters, steps, order }: ConfiguredWaterfall<Adapter<Input, Result>>,
  input: NoInfer<Input>,
  context: CellContext,
  { read, check }: { read: ReadAnswer<Result, Outputs>; check?: Waterfall<Input, Result>['check'] },
): Promise<Outcome<Outputs>> {
  const { state } = context
  const waterfall: Waterfall<Input, Result> = { adapters, steps, order, input, context, state }
  if (check !== undefined) waterfall.check = check
  return runWaterfall(waterfall).then((result) => toOutcome(result, read))
}

/** Turns the result of a waterfall into the outcome of an action. */
export function toOutcome<Result, Outputs>(
  result: WaterfallResult<Result>,
  read: ReadAnswer<Result, Outputs>,
): Outcome<Outputs> {
  switch (result.kind) {
    case 'pause':
      return { kind: 'wait', ms: result.ms, state: result.state }
    case 'out_of_credits':
      return result
    case 'found': {
      const { credits, provider, provenance } = result
      return { kind: 'done', outputs: read(result), credits, provider, provenance }
    }
    case 'none': {
      const { failure, unasked, credits, provenance } = result
      if (unasked !== null) return { kind: 'unrunnable', message: unasked, provenance }
      if (failure === null) return { kind: 'no_match', credits, provenance }
      return { kind: 'failed', message: `no provider could answer. ${failure}`, provenance }
    }
  }
}
