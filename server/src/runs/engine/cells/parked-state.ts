import { z } from 'zod'
import { isObject } from '../../../lib/json/object.ts'
import type { Position } from '../flights/flight.ts'

/** The state of a flight that waits for the row which computes its cell, in place of the action's own state. */
const ClaimWait = z.strictObject({ $waits_for: z.string() })

export function createClaimWait(row: string): z.infer<typeof ClaimWait> {
  return { $waits_for: row }
}

/** Returns the row that is waited for, or null if the state is something else. */
export function readClaimWait(state: unknown): string | null {
  if (!isObject(state) || !('$waits_for' in state)) return null
  return ClaimWait.safeParse(state).data?.$waits_for ?? null
}

/** The state of a flight whose cell was cut off in the middle. It contains the action's own state. */
type CutOff = { $cut_off: true; state?: unknown }

const isCutOff = (state: unknown): state is CutOff => isObject(state) && state['$cut_off'] === true

/** Returns the state of a cell that is parked in the middle of its run. */
export function stateOfCut({ state }: Position): CutOff {
  return { $cut_off: true, state: readState(state) }
}

/** Returns the state that the action itself handed over. */
export function readState(state: unknown): unknown {
  const own = isCutOff(state) ? state.state : state
  return readClaimWait(own) === null ? (own ?? undefined) : undefined
}

/** Returns true if a worker has begun this cell before and it is unknown how far it came. */
export function wasCutOff({ state, isTakenOver }: Position): boolean {
  return isTakenOver || isCutOff(state)
}
