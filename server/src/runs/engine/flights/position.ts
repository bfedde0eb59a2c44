import type { Refusal } from '../../../money/store/limits/leasing.ts'
import type { Reservation } from '../leases/lease.ts'
import type { Flight, SettledCell } from './flight.ts'

/** Notes that `millis` in all are reserved for the current cell. */
export function noteHeld({ position }: Flight, reservation: Reservation, millis: number): void {
  position.reservation = reservation
  position.heldMillis = millis
  position.refusal = null
}

export function noteRefusal({ position }: Flight, refusal: Refusal | null): void {
  position.refusal = refusal
}

/** Returns whether the row counts as failed by a cell with this status. Lack of credits is counted apart. */
export const isFailure = (status: string | undefined): boolean => status === 'failed' || status === 'error'

/** Notes whether cells of the run before the current one failed, as their statuses say. */
export function noteEarlier(
  { facts, position }: Flight,
  statusOf: (action: string) => string | undefined,
): void {
  const earlier = facts.actions.slice(0, facts.actions.indexOf(position.action))
  position.hasFailed = earlier.some((action) => isFailure(statusOf(action)))
}

/** Notes the cells that were settled. */
export function noteSettledCells({ position }: Flight, cells: readonly SettledCell[]): void {
  if (!position.hasFailed) position.hasFailed = cells.some(({ status }) => isFailure(status))
}

/** Notes that the current cell has its result, which is settled with those of the next ones. */
export function passCell({ position }: Flight): void {
  position.heldMillis = 0
}

/** Takes the reservation from the flight. The caller owns it from now on. */
export function detachReservation({ position }: Flight): Reservation | null {
  const { reservation } = position
  position.reservation = null
  position.heldMillis = 0
  return reservation
}

/**
 * Moves the flight to the cell of `action`. Everything before it is settled, and nothing has happened to the cell yet.
 */
export function moveTo({ position }: Flight, action: string): void {
  position.action = action
  position.retries = 0
  position.heldMillis = 0
  position.refusal = null
  position.state = null
  position.stalledClaims = 1
  position.isTakenOver = false
  position.testedIn = null
}
