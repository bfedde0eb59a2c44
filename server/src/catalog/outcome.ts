import { plural } from '../lib/plural.ts'
/**
 * What came of running an action on a row. Outcomes are data: the engine decides from them about retries, billing and the
 * state of the cell, and an action throws only when it is broken.
 */
export type Outcome<Outputs> =
  /** `credits` where providers have prices of their own; the action's price otherwise. `provider` is whose answer it is. */
  | { kind: 'done'; outputs: Outputs; credits?: number; provider?: string; provenance?: Provenance[] }
  /** There is no answer; that is an answer, not a failure. The cell is complete with empty outputs, and free by default. */
  | { kind: 'no_match'; credits?: number; provenance?: Provenance[] }
  /** What it would have to pay for next could not be set aside. */
  | { kind: 'out_of_credits'; message: string; provenance?: Provenance[] }
  /** The row ends here because the action says so (filter). */
  | { kind: 'condition_not_met' }
  /** It ran and failed for good. */
  | { kind: 'failed'; message: string; provenance?: Provenance[] }
  /** It could not be run: something it needs is not there. Never billed. */
  | { kind: 'unrunnable'; message: string; provenance?: Provenance[] }
  /** It failed in a way that may pass: tried again with backoff, or after `afterMs` when the other side said so. */
  | { kind: 'retry'; message: string; afterMs?: number }
  /** Nothing to do for a while: the row is parked and claimed again after `ms`, with `state` in its context. */
  | { kind: 'wait'; ms: number; state?: unknown }

/** What one provider did for a cell (D37, D67). */
export type Provenance = {
  provider: string
  status: string
  ms: number
  credits: number
  /** What it would have cost on the key of the installation, where it ran on one of the organisation. */
  list_credits?: number
  message?: string
  /** What a model read and wrote. */
  usage?: TokenUsage
}

export type TokenUsage = { input_tokens: number; output_tokens: number; cached_input_tokens?: number }

export function done<Outputs>(outputs: Outputs, provenance?: Provenance[]): Outcome<Outputs> {
  return provenance === undefined ? { kind: 'done', outputs } : { kind: 'done', outputs, provenance }
}

export function failed(message: string): Outcome<never> {
  return { kind: 'failed', message }
}

export function unrunnable(message: string): Outcome<never> {
  return { kind: 'unrunnable', message }
}

/** Credits were asked for and not given: the cell asks again later, or ends. */
export function unreserved(
  reserved: false | { waitMs: number },
  price: number,
  state?: unknown,
): Outcome<never> {
  if (reserved !== false) return wait(reserved.waitMs, state)
  return {
    kind: 'out_of_credits',
    message: `it costs ${plural(price, 'credit')} and the organisation has too few left`,
  }
}

export function retry(message: string, afterMs?: number): Outcome<never> {
  return afterMs === undefined ? { kind: 'retry', message } : { kind: 'retry', message, afterMs }
}

export function wait(ms: number, state?: unknown): Outcome<never> {
  return { kind: 'wait', ms, state }
}
