import type { z } from 'zod'
import type { ProviderOption } from '../fields/field.ts'
import type { AskContext } from './context.ts'
import { optionOf, type Provider, type ProviderRequest } from './provider.ts'
import type { Refusal } from './reply.ts'

/** The result of asking one provider. */
export type Found<Result> =
  /**
   * `verified` is true if the provider vouches for the answer, `free` if it does not charge for such an answer; `note`
   * goes into the provenance.
   */
  | { kind: 'hit'; value: Result; verified: boolean; free?: true; note?: string }
  /** The provider is working: ask again after a while, with this. */
  | { kind: 'pending'; afterMs: number; poll: unknown }
  | Paused
  | Refusal

/** A call that must be made later. Earlier answers are kept and not requested again. */
export type Paused = { kind: 'paused'; ms: number }

export const MISS: Refusal = { kind: 'miss' }

export function hit<Result>(value: Result, verified = true): Found<Result> {
  return { kind: 'hit', value, verified }
}

/** A kind of question that several providers answer in the same shape. */
export type QuestionKind<Input, Result> = {
  /** The shape of an answer. One that does not match, such as a masked address, counts as a miss. */
  result: z.ZodType<Result>
  /** Exists for the compiler only. */
  input?: Input
}

/** Makes one call to the provider and reads its reply. A refusal is passed on. */
export type Ask<Held = never> = <Body, Out>(
  request: ProviderRequest,
  schema: z.ZodType<Body>,
  read: (body: Body) => Out,
) => Promise<Out | Refusal | Held>

/** The same for calls that may have to be made later. */
export type AdapterAsk = Ask<Paused>

export type AdapterSpec<Input, Result> = {
  /** The credits for an answer on the installation's key. Calls on an organisation's own key cost 0. */
  price: number
  /** The credits for a miss. Default 0. */
  missPrice?: number
  /** Returns true if the provider can be asked with this input. */
  accepts?(input: Input): boolean
  /**
   * Asks the provider, in one call or several, one after another. If a later call must wait, this function runs again
   * from its beginning, and `ask` returns the replies that arrived before.
   */
  run(ask: AdapterAsk, input: Input, more: { poll: unknown; context: AskContext }): Promise<Found<Result>>
}

/** One provider's way to answer one kind of question. */
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
