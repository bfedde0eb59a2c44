import type { Refusal } from '../../../money/store/purses/take.ts'
import type { Hold } from '../purses/share.ts'
import type { Flight, Position } from './flight.ts'

type Writable = { -readonly [Field in keyof Position]: Position[Field] }

/** Notes that `millis` in all are reserved for the current cell. */
export function noteHeld({ position }: Flight, hold: Hold, millis: number): void {
  const writable: Writable = position
  writable.hold = hold
  writable.heldMillis = millis
  writable.refusal = null
}

export function noteRefusal({ position }: Flight, refusal: Refusal | null): void {
  const writable: Writable = position
  writable.refusal = refusal
}

/** Notes that the current cell has its result, which is settled with those of the next ones. */
export function passCell({ position }: Flight): void {
  const writable: Writable = position
  writable.heldMillis = 0
}

/** Takes the hold from the flight. The caller owns it from now on. */
export function takeHold({ position }: Flight): Hold | null {
  const writable: Writable = position
  const { hold } = writable
  writable.hold = null
  writable.heldMillis = 0
  return hold
}

/**
 * Moves the flight to the cell of `action`. Everything before it is settled, and nothing has happened to the cell yet.
 */
export function moveTo({ position }: Flight, action: string): void {
  const writable: Writable = position
  writable.action = action
  writable.retries = 0
  writable.heldMillis = 0
  writable.refusal = null
  writable.state = null
  writable.stalledClaims = 1
  writable.isTakenOver = false
  writable.testedIn = null
}
