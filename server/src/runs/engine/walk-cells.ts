import { type ActionInstance, findInstance } from '../../catalog/chain/definition.ts'
import type { Action } from '../../catalog/define.ts'
import { isOn } from '../../lib/fast-parts.ts'
import { JobPostponed } from '../../lib/job.ts'
import { yieldTurn } from '../../lib/timing/yielding.ts'
import type { CellResult } from './cells/cell-result.ts'
import { type CellCaching, lookAhead, runCell } from './cells/cell.ts'
import type { Engine, RowWalk } from './engine-context.ts'
import type { Flight, Parking, Settlement } from './flights/flight.ts'
import { moveTo, noteSettledCells, passCell, detachReservation } from './flights/position.ts'
import type { Given, Settled } from './flights/settler.ts'
import type { Reservation } from './leases/lease.ts'

/**
 * Runs and settles cell after cell, from the flight's current one on. Cells of pure actions and results from the cache
 * that follow each other are settled together: after a crash they are computed, or found, again with the same result.
 * Any other action starts when everything before it is durable. Returns false for a row that was only peeked at and has
 * to be claimed. Calls `onSettled` after every settlement.
 *
 * This is one function for the whole way: thousands of rows wait in it at a time, and the garbage collector copies
 * again and again what each of them keeps.
 */
export async function walkCells(engine: Engine, walk: RowWalk, onSettled?: () => void): Promise<boolean> {
  const { flight, peeked, express } = walk
  for (;;) {
    if (!peeked && engine.ending.hasBegun()) {
      await postpone(engine, flight)
      return true
    }
    // Cells that wait in the cache for the result of this one look again only once it is settled, or the row is parked.
    const end = flight.facts.cache_enabled ? Promise.withResolvers<number>() : null
    let parkedMs = 0
    try {
      if (end !== null && walk.lookups === null && isOn('lookahead'))
        lookAhead(engine, walk, joinedFrom(walk, flight.position.action))
      const gathering = gather(engine, walk, end?.promise ?? null)
      const gathered = gathering instanceof Promise ? await gathering : gathering
      const { cells, next, parking } = gathered
      if (parking !== null) {
        parkedMs = Math.max(1, parking.ms)
        await park(engine, flight, parking)
        return true
      }
      if (peeked && !isWhole(gathered)) return false
      if (cells.length > 0) {
        const settled = await settle(engine, walk, gathered)
        onSettled?.()
        if (settled === null || next === null) return true
        noteSettledCells(flight, cells)
        moveTo(flight, next)
        if (settled.runState === 'stopped') {
          await abandon(engine, flight)
          return true
        }
      }
    } finally {
      end?.resolve(parkedMs)
    }
    if (!express) await yieldTurn()
  }
}

/** Returns true if the row is finished with these cells. */
export const isWhole = ({ cells, next }: Settlement): boolean => cells.length > 0 && next === null

/** Cells whose results are not settled yet, and the action to go on with. Or the row is to be parked, without cells. */
export type Gathered = Settlement & { parking: Parking | null }

/**
 * Runs the current cell, and those after it that may be settled with it. Returns without a promise if all results are
 * there at once, as do the functions that it calls (`runCell`, `reserveCredits`, `callAction`): with async functions the
 * process takes 8.7 us of a pure cell until it is settled, and 6.0 without (medians of four runs in turns, 2 x86 cores
 * beside other work, 2026-11-19). P1 takes 33 us of the machine.
 */
export function gather(
  engine: Engine,
  walk: RowWalk,
  end: CellCaching['end'] | null,
): Gathered | Promise<Gathered> {
  const gathered = { cells: [], next: walk.flight.position.action, parking: null }
  return gatherOn({ engine, walk, end, gathered })
}

type Gathering = { engine: Engine; walk: RowWalk; end: CellCaching['end'] | null; gathered: Gathered }

function gatherOn(gathering: Gathering): Gathered | Promise<Gathered> {
  const { walk, gathered } = gathering
  for (;;) {
    const startedAt = Date.now()
    const running = runNext(gathering)
    if (running instanceof Promise) return gatherLater(running, startedAt, gathering)
    if (!takeResult(walk, gathered, running, startedAt)) return gathered
  }
}

/**
 * Goes on when a result arrives. A function of its own, because a function with a closure makes an object for it each
 * time (`runCell`).
 */
function gatherLater(
  running: Promise<CellResult>,
  startedAt: number,
  gathering: Gathering,
): Promise<Gathered> {
  const { walk, gathered } = gathering
  return running.then((result) =>
    takeResult(walk, gathered, result, startedAt) ? gatherOn(gathering) : gathered,
  )
}

function runNext({ engine, walk, end, gathered }: Gathering): CellResult | Promise<CellResult> {
  const caching = end === null ? null : { end, mayWait: mayWait(walk, gathered) }
  return runCell(engine, walk, gathered.next ?? '', caching)
}

/**
 * Returns whether the cell may wait. A cell that delays the results of others, or whose row is unclaimed, waits for
 * nothing.
 */
const mayWait = (walk: RowWalk, { cells }: Gathered): boolean => cells.length === 0 && !walk.peeked

/** Adds a result. Returns whether there is another cell to go on with. */
function takeResult(walk: RowWalk, gathered: Gathered, result: CellResult, startedAt: number): boolean {
  const { flight, scope } = walk
  const { cells, next: action } = gathered
  // The cells before it are settled first, and a row that is only peeked at is claimed.
  if (action === null || result.kind === 'not yet') return false
  if (result.kind === 'later') {
    if (mayWait(walk, gathered)) gathered.parking = result.parking
    return false
  }
  const { settlement, halts } = result
  const instance = instanceOf(walk, action)
  const { actions } = flight.facts
  passCell(flight)
  settlement.action = action
  settlement.template = instance?.action_id ?? ''
  settlement.startedAt = startedAt
  cells.push(settlement)
  scope.add(action, settlement.status, settlement.outputs ?? null)
  const next = halts ? null : (actions[actions.indexOf(action) + 1] ?? null)
  gathered.next = next
  const joins = settlement.cached || isPure(walk, action)
  return next !== null && joins && cells.length < walk.together && mayJoin(walk, next)
}

/** Settles cells. Returns null if the fence was lost and the job is finished all the same. */
function settle(
  engine: Engine,
  { flight, express }: RowWalk,
  settlement: Settlement,
): Promise<Settled | null> {
  const given = { flight, settlement }
  const { reservation } = flight.position
  return engine.flights.settle(flight, settlement, express).then(
    (settled) => {
      if (settled === null) return endLate(engine, given, reservation)
      endReservation(engine, given, reservation, 'charged')
      noteSettled(engine, given)
      return settled
    },
    (cause: unknown) => {
      endReservation(engine, given, reservation, 'unknown')
      throw cause
    },
  )
}

/**
 * Ends a settlement that lost its fence. A call that was made is charged all the same if its row was deleted, or run
 * again, and no other worker has it.
 */
async function endLate(engine: Engine, given: Given, reservation: Reservation | null): Promise<null> {
  let end: ReservationEnd = 'unknown'
  try {
    const mayBeCharged = reservation !== null && costOf(given.settlement) > 0
    end = mayBeCharged && (await engine.flights.chargeLate(given)) ? 'charged' : 'free'
  } finally {
    endReservation(engine, given, reservation, end)
  }
  await throwIfTakenOver(engine, given.flight)
  return null
}

/**
 * Settles finished rows in one statement. Returns an error for each row that is not settled, unless its job is finished
 * all the same.
 */
export async function settleWhole(engine: Engine, rows: readonly Given[]): Promise<unknown[]> {
  const reservations = rows.map(({ flight }) => flight.position.reservation)
  const endReservations = (endOf: (n: number) => ReservationEnd) => {
    for (const [n, given] of rows.entries()) endReservation(engine, given, reservations[n] ?? null, endOf(n))
  }
  let answers: (Settled | null)[]
  try {
    answers = await engine.flights.settleAll(rows)
  } catch (cause) {
    endReservations(() => 'unknown')
    throw cause
  }
  const isSettled = (n: number) => (answers[n] ?? null) !== null
  endReservations((n) => (isSettled(n) ? 'charged' : 'free'))
  const faults: unknown[] = []
  for (const [n, given] of rows.entries()) {
    if (isSettled(n)) noteSettled(engine, given)
    else await throwIfTakenOver(engine, given.flight).catch((cause: unknown) => faults.push(cause))
  }
  return faults
}

function noteSettled(engine: Engine, { flight: { facts }, settlement: { cells } }: Given): void {
  engine.announce(facts.sheet_id)
  engine.countProviders(facts.org_id, cells)
}

/** The end of a reservation. `unknown` means that the database was cut off. */
type ReservationEnd = 'charged' | 'free' | 'unknown'

/** Ends the reservation that was reserved for the cells of this settlement. */
function endReservation(
  engine: Engine,
  { flight, settlement }: Given,
  reservation: Reservation | null,
  end: ReservationEnd,
): void {
  if (detachReservation(flight) === null || reservation === null) return
  if (end === 'unknown') {
    engine.reservations.doubt(reservation)
    return
  }
  engine.reservations.spend(reservation, end === 'charged' ? costOf(settlement) : 0)
}

const costOf = ({ cells }: Settlement): number =>
  cells.reduce((sum, { creditsMillis }) => sum + creditsMillis, 0)

/** Returns the action, and those after it whose cells may be settled with its own. */
function joinedFrom(walk: RowWalk, action: string): string[] {
  const { actions } = walk.flight.facts
  const rest = actions.slice(actions.indexOf(action), actions.indexOf(action) + walk.together)
  const end = rest.findIndex((one, n) => n > 0 && !mayJoin(walk, one))
  return end === -1 ? rest : rest.slice(0, end)
}

/** Returns whether the cell may be settled with those before it: its action is pure, or it may be in the cache. */
export function mayJoin(walk: RowWalk, action: string): boolean {
  const template = templateOf(walk, action)
  return template?.pure === true || (walk.flight.facts.cache_enabled && template?.cached === true)
}

export function isPure(walk: RowWalk, action: string): boolean {
  return templateOf(walk, action)?.pure === true
}

function templateOf(walk: RowWalk, action: string): Action | undefined {
  const instance = instanceOf(walk, action)
  return instance === undefined ? undefined : walk.catalogue.get(instance.action_id)
}

const instanceOf = ({ definition }: RowWalk, action: string): ActionInstance | undefined =>
  findInstance(definition, action)

/** Parks the flight for the next process. */
export async function postpone(engine: Engine, flight: Flight): Promise<void> {
  const { retries, state } = flight.position
  await park(engine, flight, { ms: 0, retries, state })
}

async function park(engine: Engine, flight: Flight, parking: Parking): Promise<void> {
  const { facts, row } = flight
  const place = { orgId: facts.org_id, runId: facts.run_id, rowId: row.id }
  const reservation = detachReservation(flight)
  if (reservation !== null) engine.reservations.parked.keep(place, reservation)
  if (!(await engine.flights.park(flight, parking))) {
    const unused = engine.reservations.parked.take(place)
    if (unused !== null) engine.reservations.spend(unused, 0)
    await throwIfTakenOver(engine, flight)
  }
}

export async function abandon(engine: Engine, flight: Flight): Promise<void> {
  if (!(await engine.flights.abandon(flight))) await throwIfTakenOver(engine, flight)
}

/**
 * Checks what a lost fence means. If the row is no longer in flight, the job is finished. If it is, another worker has
 * the job, and this throws.
 */
async function throwIfTakenOver(engine: Engine, flight: Flight): Promise<void> {
  if (await engine.flights.isInFlight(flight)) throw new RowTakenOver('another worker has taken over the row')
}

/** Thrown if another worker has the row now, and its job: the job must not be reported as done. */
export class RowTakenOver extends JobPostponed {
  override name = 'RowTakenOver'
}
