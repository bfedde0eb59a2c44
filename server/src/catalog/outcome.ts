import { plural } from '../lib/plural.ts'
/**
 * The result of running an action on a row. Outcomes are data: from them the engine decides about retries, charges and
 * the state of the cell. An action throws only when it is broken.
 */
export type Outcome<Outputs> =
  /**
   * `credits` is set if providers have their own prices; otherwise the action's price counts. `provider` gave the
   * answer.
   */
  | { kind: 'done'; outputs: Outputs; credits?: number; provider?: string; provenance?: Provenance[] }
  /**
   * A result without an answer, which is a result and not a failure. The cell is complete with empty outputs, and free by
   * default.
   */
  | { kind: 'no_match'; credits?: number; provenance?: Provenance[] }
  /** The credits for the next step could not be reserved. */
  | { kind: 'out_of_credits'; message: string; provenance?: Provenance[] }
  /** The action ends the row (filter). */
  | { kind: 'condition_not_met' }
  /** The action ran and failed permanently. */
  | { kind: 'failed'; message: string; provenance?: Provenance[] }
  /** The action could not run because something that it needs is missing. Never charged. */
  | { kind: 'unrunnable'; message: string; provenance?: Provenance[] }
  /** A temporary failure. It is retried with backoff, or after `afterMs` if the other side named a delay. */
  | { kind: 'retry'; message: string; afterMs?: number }
  /** The action waits. The row is parked and claimed again after `ms`, with `state` in its context. */
  | { kind: 'wait'; ms: number; state?: unknown }

/** A record of what one provider did for a cell (D37, D67). */
export type Provenance = {
  provider: string
  status: string
  ms: number
  credits: number
  /** The price on the installation's key, if the call ran on a key of the organisation. */
  list_credits?: number
  message?: string
  /** The tokens that a model read and wrote. */
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

/** Returns the outcome for credits that were not granted: the cell asks again later, or ends. */
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
