import type { Refusal } from '../../../money/store/purses/take.ts'
import type { Hold } from '../purses/share.ts'
import type { Flight, Position } from './flight.ts'

type Writable = { -readonly [Field in keyof Position]: Position[Field] }

/** What was set aside for the cell at hand is now `millis` in all. */
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

/** The cell at hand has its result, which is settled with those of the next ones. */
export function passCell({ position }: Flight): void {
  const writable: Writable = position
  writable.heldMillis = 0
}

/** What the flight has set aside, which is the caller's from now on. */
export function takeHold({ position }: Flight): Hold | null {
  const writable: Writable = position
  const { hold } = writable
  writable.hold = null
  writable.heldMillis = 0
  return hold
}

/** Everything before `action` is settled: its cell is at hand, and nothing has happened to it yet. */
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
