import type { Egress } from '../../lib/egress/egress.ts'
import type { CallOff } from '../../lib/egress/request.ts'
import type { ProviderGate, ProviderKeys } from './access.ts'

/** The part of an action's context that one request to a provider needs. */
export type ProviderContext = {
  egress: Egress
  /** The signal that is aborted at the action's timeout and when the row is cancelled. */
  signal: AbortSignal
  /** The same for calls through the egress, where it costs less than a signal. */
  callOff?: CallOff
  now: () => Date
  /** The id of the organisation, for shared resources that organisations use in turn. */
  owner?: string
}

/** A count of what a provider did lately for the organisation and the action. */
export type ProviderRate = { provider: string; asked: number; found: number; credits: number }

/**
 * The result of a reservation. It is false if too few credits are left. If only reservations of others are in the way, the cell is parked and asks again.
 */
export type Reserved = boolean | { waitMs: number }

/** The context that asking providers needs. */
export type AskContext = ProviderContext & {
  /** The keys of providers. */
  keys: ProviderKeys
  /** The gate that every call to a provider must pass. */
  gate: ProviderGate
  /** Reserves the total that the cell may cost, before the call that costs it. Mostly returns at once. */
  reserve(credits: number): Promise<Reserved>
  /** Returns what providers did lately for the organisation, for waterfalls that choose their order. */
  rates?(): Promise<readonly ProviderRate[]>
}

/** The same for a cell that may be parked. */
export type CellContext = AskContext & {
  /** The state that an earlier `wait` of this cell returned; undefined on the first call. */
  state: unknown
  /** Set if an earlier try of this cell was interrupted, so that nobody knows how far it got. */
  wasCutOff: boolean
}
