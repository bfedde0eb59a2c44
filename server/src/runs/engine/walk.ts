import { createRowScope } from '../../catalog/chain/row-scope.ts'
import { isUnavailable } from '../../database/connection/db.ts'
import { isOn } from '../../lib/fast-parts.ts'
import { backoff } from '../../lib/timing/backoff.ts'
import { foreground, yieldTurn } from '../../lib/timing/yielding.ts'
import type { Engine, RowWalk } from './engine-context.ts'
import type { Flight, RowJob } from './flights/flight.ts'
import { detachReservation, noteEarlier, noteHeld } from './flights/position.ts'
import { abandon, mayJoin, postpone, walkCells } from './walk-cells.ts'

const MAX_PAUSE_MS = 1000
const MAX_TOGETHER = 16

export type WalkOptions = {
  /** Set if the row is among the first rows of a run. It does not wait behind bulk rows. */
  express?: boolean
  /** Set if no worker has had the job before. */
  fresh?: boolean
  /** Set if the walk begins again after an outage. */
  resumed?: boolean
}

/**
 * Walks a row: claims it, runs its cells and settles them. However long the database is away, the same process then
 * claims the row again, at the cell where it is.
 */
export async function walkRow(engine: Engine, job: RowJob, how: WalkOptions = {}): Promise<void> {
  for (let outages = 0; ; outages += 1) {
    const asked = outages === 0 ? how : { ...how, fresh: false, resumed: true }
    // Somebody may be looking at the first rows of a run.
    const endPriority = how.express === true ? foreground() : undefined
    try {
      const flight = await engine.flights.claim(job, asked)
      if (flight !== null)
        await engine.withInputs(flight, (whole) => walkFlight(engine, job, whole, { ...asked, endPriority }))
      return
    } catch (cause) {
      if (!isUnavailable(cause)) throw cause
      endPriority?.()
      await engine.ending.pause(backoff(outages, { firstMs: 250, maxMs: MAX_PAUSE_MS }))
      if (engine.ending.hasBegun()) throw cause
    } finally {
      endPriority?.()
    }
  }
}

/** Attaches the reservation that this process reserved for the cell before the flight was parked. */
function attachReservation({ reservations }: Engine, flight: Flight): void {
  const { facts, row } = flight
  const reservation = reservations.parked.take({ orgId: facts.org_id, runId: facts.run_id, rowId: row.id })
  if (reservation !== null) noteHeld(flight, reservation, reservation.millis)
}

export function giveBackReservation({ reservations }: Engine, flight: Flight): void {
  const reservation = detachReservation(flight)
  if (reservation !== null) reservations.spend(reservation, 0)
}

/** Walks a claimed row along its run's actions. */
async function walkFlight(
  engine: Engine,
  job: RowJob,
  flight: Flight,
  { express = false, fresh = false, endPriority }: WalkOptions & Pick<RowWalk, 'endPriority'>,
): Promise<void> {
  attachReservation(engine, flight)
  try {
    if (!express) await yieldTurn()
    if (flight.row.unreadBytes > 0) {
      await postpone(engine, flight)
      return
    }
    const walk = await prepare(engine, flight, { express, endPriority, peeked: false })
    if (walk === null || flight.runState === 'stopped') {
      await abandon(engine, flight)
      return
    }
    const { stalledClaims, testedIn } = flight.position
    const isSuspect = stalledClaims !== 1 && testedIn !== 0
    const onSettled = isSuspect ? await engine.suspects.enter(flight) : undefined
    await walkCells(engine, walk, onSettled).finally(onSettled)
    if (fresh && !walk.hasCalled && mayBeWhole(walk)) engine.pureRuns.add(job)
  } finally {
    giveBackReservation(engine, flight)
  }
}

/**
 * Returns whether all cells of the run can be written as one, as far as known before they are looked up in the cache.
 */
export function mayBeWhole(walk: RowWalk): boolean {
  const { actions } = walk.flight.facts
  return actions.length <= walk.together && actions.every((action) => mayJoin(walk, action))
}

type WithRow = Flight & { row: { data: string } }
const hasRow = (flight: Flight): flight is WithRow => flight.row.data !== null

type Walking = Pick<RowWalk, 'express' | 'endPriority' | 'peeked'>

/** Returns the walk of a flight, or null if its row has been deleted. */
export async function prepare(engine: Engine, flight: Flight, how: Walking): Promise<RowWalk | null> {
  if (!hasRow(flight)) return null
  const { definition, catalogue, env, knownOutputs } = await engine.settingOf(flight.facts)
  const { facts, row, position } = flight
  const scope = createRowScope(definition, row, knownOutputs, env)
  noteEarlier(flight, (action) => scope.statusOf(action))
  engine.announce(facts.sheet_id)
  // A row that may have ended its worker goes cell by cell, to find the guilty cell.
  const together = position.stalledClaims > 1 || !isOn('joined-cells') ? 1 : MAX_TOGETHER
  return {
    flight,
    definition,
    catalogue,
    scope,
    env,
    together,
    missing: null,
    hasCalled: false,
    lookups: null,
    ...how,
  }
}
