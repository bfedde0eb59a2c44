import type { Flight, Position } from './flight.ts'

type Writable = { -readonly [Field in keyof Position]: Position[Field] }

/** What was set aside for the cell at hand is now `millis` in all. */
export function noteHeld({ position }: Flight, millis: number): void {
  const writable: Writable = position
  writable.heldMillis = millis
}

/** Everything before `action` is settled: its cell is at hand, and nothing has happened to it yet. */
export function moveTo({ position }: Flight, action: string): void {
  const writable: Writable = position
  writable.action = action
  writable.retries = 0
  writable.heldMillis = 0
  writable.state = null
  writable.stalledClaims = 1
  writable.isTakenOver = false
  writable.testedIn = null
}
