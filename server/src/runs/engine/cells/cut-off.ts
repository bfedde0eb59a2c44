import { isObject } from '../../../lib/json/object.ts'
import type { Position } from '../flights/flight.ts'
import { stateOfAction } from './claim-wait.ts'

/** What a flight keeps when its cell was cut off in the middle, around the action's own state. */
type CutOff = { $cut_off: true; state?: unknown }

const isCutOff = (state: unknown): state is CutOff => isObject(state) && state['$cut_off'] === true

/** The state of a cell that is parked in the middle of its run. */
export function stateOfCut({ state }: Position): CutOff {
  return { $cut_off: true, state: readState(state) }
}

/** What the action itself handed over. */
export function readState(state: unknown): unknown {
  return stateOfAction(isCutOff(state) ? state.state : state)
}

/** Whether somebody has begun this cell before and nobody knows how far they came. */
export function wasCutOff({ state, isTakenOver }: Position): boolean {
  return isTakenOver || isCutOff(state)
}
