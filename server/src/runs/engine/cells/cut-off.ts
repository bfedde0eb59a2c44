import { isObject } from '../../../lib/json/object.ts'
import type { Position } from '../flights/flight.ts'
import { stateOfAction } from './claim-wait.ts'

/** The state of a flight whose cell was cut off in the middle. It contains the action's own state. */
type CutOff = { $cut_off: true; state?: unknown }

const isCutOff = (state: unknown): state is CutOff => isObject(state) && state['$cut_off'] === true

/** Returns the state of a cell that is parked in the middle of its run. */
export function stateOfCut({ state }: Position): CutOff {
  return { $cut_off: true, state: readState(state) }
}

/** Returns the state that the action itself handed over. */
export function readState(state: unknown): unknown {
  return stateOfAction(isCutOff(state) ? state.state : state)
}

/** Returns true if a worker has begun this cell before and it is unknown how far it came. */
export function wasCutOff({ state, isTakenOver }: Position): boolean {
  return isTakenOver || isCutOff(state)
}
