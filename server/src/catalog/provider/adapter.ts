import type { z } from 'zod'
import type { ProviderOption } from '../fields/field.ts'
import type { AskContext } from './context.ts'
import { optionOf, type Provider, type ProviderRequest } from './provider.ts'
import type { Refusal } from './reply.ts'

/** What came of asking one provider. */
export type Found<Result> =
  /**
   * `verified` where the provider vouches for it; `free` where it does not charge for such an answer; `note` is said of it
   * in the provenance.
   */
  | { kind: 'hit'; value: Result; verified: boolean; free?: true; note?: string }
  /** It is at work: ask again after a while, with this. */
  | { kind: 'pending'; afterMs: number; poll: unknown }
  | Paused
  | Refusal

/** A call that is to be made later. What was answered before is kept, and not asked for again. */
export type Paused = { kind: 'paused'; ms: number }

export const MISS: Refusal = { kind: 'miss' }

export function hit<Result>(value: Result, verified = true): Found<Result> {
  return { kind: 'hit', value, verified }
}

/** One kind of question, which several providers answer in the same shape. */
export type QuestionKind<Input, Result> = {
  /** An answer that does not fit is as good as none, such as an address that is masked. */
  result: z.ZodType<Result>
  /** For the compiler only. */
  input?: Input
}

/** Makes one call to the provider and reads its reply; what kept it from answering is passed on. */
export type Ask<Held = never> = <Body, Out>(
  request: ProviderRequest,
  schema: z.ZodType<Body>,
  read: (body: Body) => Out,
) => Promise<Out | Refusal | Held>

/** The same where the call may have to be made later. */
export type AdapterAsk = Ask<Paused>

export type AdapterSpec<Input, Result> = {
  /** Credits for an answer, on the platform's key; 0 on keys of one's own. */
  price: number
  /** Credits for a miss. Default 0. */
  missPrice?: number
  /** Whether this provider can be asked with what is known. */
  accepts?(input: Input): boolean
  /**
   * Calls may be several, one after another. When a later one must wait, this runs again from its beginning, and `ask` gives
   * the replies that were got before.
   */
  run(ask: AdapterAsk, input: Input, more: { poll: unknown; context: AskContext }): Promise<Found<Result>>
}

/** One provider answering one kind of question. */
export type Adapter<Input, Result> = {
  provider: Provider
  question: QuestionKind<Input, Result>
  price: number
  missPrice: number
  option: ProviderOption
  accepts(input: Input): boolean
  run(ask: AdapterAsk, input: Input, more: { poll: unknown; context: AskContext }): Promise<Found<Result>>
}

export function defineAdapter<Input, Result>(
  question: QuestionKind<Input, Result>,
  provider: Provider,
  spec: AdapterSpec<NoInfer<Input>, NoInfer<Result>>,
): Adapter<Input, Result> {
  return {
    provider,
    question,
    price: spec.price,
    missPrice: spec.missPrice ?? 0,
    option: optionOf(provider, spec.price, spec.missPrice ?? 0),
    accepts: (input) => spec.accepts?.(input) ?? true,
    run: (ask, input, more) => spec.run(ask, input, more).then(check),
  }

  function check(found: Found<Result>): Found<Result> {
    if (found.kind !== 'hit') return found
    const value = question.result.safeParse(found.value)
    return value.success ? { ...found, value: value.data } : MISS
  }
}
