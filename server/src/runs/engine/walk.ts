import { createRowScope } from '../../catalog/chain/row-scope.ts'
import { isUnavailable } from '../../database/connection/db.ts'
import type { HandedRow } from '../../database/queue/hand-over.ts'
import { isOn } from '../../lib/fast-parts.ts'
import { backoff } from '../../lib/timing/backoff.ts'
import { foreground, yieldTurn } from '../../lib/timing/yielding.ts'
import type { Engine, RowWalk } from './engine-context.ts'
import type { Flight, RowJob, RunFacts } from './flights/flight.ts'
import { detachReservation, noteEarlier, noteHeld } from './flights/position.ts'
import { abandon, isPure, mayJoin, postpone, walkCells } from './walk-cells.ts'

const MAX_PAUSE_MS = 1000
const MAX_TOGETHER = 16

export type WalkOptions = {
  /** Set if the row is among the first rows of a run. It does not wait behind bulk rows. */
  express?: boolean
  /** Set if no worker has had the job before. */
  fresh?: boolean
  /** The inputs and results of the row, read when its job was made. */
  handed?: Pick<HandedRow, 'data' | 'cells'> & { facts: RunFacts }
  /** Set if the row was looked at with others of its group, and has to be claimed. */
  peeked?: boolean
  /** Set if the walk begins again after an outage. */
  resumed?: boolean
}

/**
 * Walks a row. However long the database is away, the same process then claims the row again, at the cell where it is.
 */
export async function walkRow(engine: Engine, job: RowJob, how: WalkOptions = {}): Promise<void> {
  for (let outages = 0; ; outages += 1) {
    const row = atHand(engine, job, outages === 0 ? how : { ...how, fresh: false, resumed: true })
    // Somebody may be looking at the first rows of a run.
    const endPriority = how.express === true ? foreground() : undefined
    try {
      const flight = await peekOrClaim(engine, row, endPriority)
      if (flight?.row.unreadBytes === 0) await walkFlight(engine, row, flight, endPriority)
      else if (flight !== null)
        await engine.withInputs(flight, (whole) => walkFlight(engine, row, whole, endPriority))
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

type RowAtHand = {
  job: RowJob
  how: WalkOptions
  /** Set if the row is peeked at before it is claimed. */
  peeks: boolean
}

function atHand(engine: Engine, job: RowJob, how: WalkOptions): RowAtHand {
  const { express = false, fresh = false, peeked = false, handed } = how
  // Peeking is bulk work, which the first rows of a run do not wait for.
  const peeks =
    isOn('peek') && fresh && (peeked || handed !== undefined || (!express && engine.pureRuns.has(job)))
  return { job, how, peeks }
}

/** Returns the flight to walk, or null if there is nothing left to do for the job. */
function peekOrClaim(
  engine: Engine,
  row: RowAtHand,
  endPriority: RowWalk['endPriority'],
): Promise<Flight | null> {
  const { job, how, peeks } = row
  const { express = false, fresh = false, resumed = false } = how
  const claim = () => engine.flights.claim(job, { express, fresh: fresh && !peeks, resumed })
  if (!peeks || how.peeked === true) return claim()
  return walkPurely(engine, row, endPriority).then((isFinished) => (isFinished ? null : claim()))
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
  row: RowAtHand,
  flight: Flight,
  endPriority: RowWalk['endPriority'],
): Promise<void> {
  const { express = false, fresh = false } = row.how
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
    if (row.peeks) engine.pureRuns.remove(row.job)
    const { stalledClaims, testedIn } = flight.position
    if (stalledClaims === 1 || testedIn === 0) await walkCells(engine, walk)
    else {
      const settled = await engine.suspects.enter(flight)
      await walkCells(engine, walk, settled).finally(settled)
    }
    if (fresh && !walk.hasCalled && mayBeWhole(walk)) engine.pureRuns.add(row.job)
  } finally {
    giveBackReservation(engine, flight)
  }
}

/**
 * Computes a row of pure actions, or of results from the cache, while it still counts as queued. Nothing is lost when
 * the process ends: the next worker that claims the row finds it as it was. Returns false if the row must be claimed.
 */
async function walkPurely(
  engine: Engine,
  row: RowAtHand,
  endPriority: RowWalk['endPriority'],
): Promise<boolean> {
  if (row.how.express === true) return peekAndWalk(engine, row, endPriority)
  const { job } = row
  const { peeked } = engine.slots
  const turn = peeked.take(job.o)
  if (turn !== undefined) await turn
  try {
    return await peekAndWalk(engine, row, endPriority)
  } finally {
    peeked.giveBack(job.o)
  }
}

async function peekAndWalk(
  engine: Engine,
  row: RowAtHand,
  endPriority: RowWalk['endPriority'],
): Promise<boolean> {
  const walk = await peekIn(engine, row, endPriority)
  if (walk === null) return false
  return walkCells(engine, walk).finally(() => giveBackReservation(engine, walk.flight))
}

/**
 * Returns the walk of a row that need not be claimed, or null. Groups of rows may wait for what is found out about the
 * first rows of their run.
 */
async function peekIn(
  engine: Engine,
  { job, how: { express = false, handed } }: RowAtHand,
  endPriority: RowWalk['endPriority'],
): Promise<RowWalk | null> {
  const endLook = handed === undefined ? undefined : engine.pureRuns.lookAt(job)
  try {
    const flight = handed === undefined ? await engine.flights.peek(job) : engine.flights.adopt(job, handed)
    if (flight === null || flight.row.unreadBytes > 0) return null
    if (!express) await yieldTurn()
    const walk = await prepare(engine, flight, { express, endPriority, peeked: true })
    if (walk === null || engine.ending.hasBegun() || !mayBeWhole(walk)) return null
    if (!express) return walk
    // Looking for results in the cache is worth it for many rows at once.
    if (!flight.facts.actions.every((action) => isPure(walk, action))) return null
    engine.pureRuns.add(job)
    return walk
  } finally {
    endLook?.()
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
