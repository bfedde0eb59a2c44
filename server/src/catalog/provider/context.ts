import type { Egress } from '../../lib/egress/egress.ts'
import type { CallOff } from '../../lib/egress/request.ts'
import type { ProviderGate, ProviderKeys } from './access.ts'

/** What one request to a provider takes of what an action is lent. */
export type ProviderContext = {
  egress: Egress
  /** Aborted at the action's timeout and when the row is given up. */
  signal: AbortSignal
  /** The same for calls by the egress, where it is there for less than a signal. */
  callOff?: CallOff
  now: () => Date
  /** The organisation, for what is shared by turns. */
  owner?: string
}

/** Counts what a provider did lately for the organisation and the action. */
export type ProviderRate = { provider: string; asked: number; found: number; credits: number }

/** False: too few credits are left. Where only what others hold is in the way, the cell is parked and asks again. */
export type Reserved = boolean | { waitMs: number }

/** What asking providers takes. */
export type AskContext = ProviderContext & {
  /** Keys of providers. */
  keys: ProviderKeys
  /** Every call to a provider goes through it. */
  gate: ProviderGate
  /** Sets aside what the cell may come to cost in all, before the call that costs it; mostly at once. */
  reserve(credits: number): Reserved | Promise<Reserved>
  /** What providers did lately for the organisation, for waterfalls that order themselves. */
  rates?(): Promise<readonly ProviderRate[]>
}

/** The same for a cell that may be parked. */
export type CellContext = AskContext & {
  /** What an earlier `wait` of this cell handed over; undefined on the first call. */
  state: unknown
  /** An earlier try of this cell was cut off: nobody knows how far it came. */
  wasCutOff: boolean
}
