import { type ActionInstance, findInstance } from '../../catalog/chain/definition.ts'
import type { Action } from '../../catalog/define.ts'
import { JobPostponed } from '../../lib/job.ts'
import { yieldTurn } from '../../lib/timing/yielding.ts'
import { type CellCaching, runCell } from './cells/cell.ts'
import type { Engine, RowWalk } from './engine-context.ts'
import { lookAhead } from './fast/look-ahead.ts'
import type { Flight, Parking, SettledCell, Settlement } from './flights/flight.ts'
import { moveTo, noteSettledCells, passCell, detachReservation } from './flights/position.ts'
import type { Given, Settled } from './flights/settler.ts'

/**
 * Runs and settles cell after cell, from the flight's current one on. Cells of pure actions and results from the cache
 * that follow each other are settled together: after a crash they are computed, or found, again with the same result.
 * Any other action starts when everything before it is durable. Calls `onSettled` after every settlement.
 */
export async function walkCells(engine: Engine, walk: RowWalk, onSettled?: () => void): Promise<void> {
  const { flight, express } = walk
  for (;;) {
    if (engine.ending.hasBegun()) {
      await postpone(engine, flight)
      return
    }
    // Cells that wait in the cache for the result of this one look again only once it is settled, or the row is parked.
    const end = flight.facts.cache_enabled ? Promise.withResolvers<number>() : null
    let parkedMs = 0
    try {
      if (end !== null) await lookAhead(engine, [walk], listJoined)
      const { cells, next, parking } = await gather(engine, walk, end?.promise ?? null)
      if (parking !== null) {
        parkedMs = Math.max(1, parking.ms)
        await park(engine, flight, parking)
        return
      }
      if (cells.length > 0) {
        const given = { flight, settlement: { cells, next } }
        const [settled = null] = await settle(engine, [given], express)
        if (settled === null) await endLate(engine, given)
        onSettled?.()
        if (settled === null || next === null) return
        noteSettledCells(flight, cells)
        moveTo(flight, next)
        if (settled.runState === 'stopped') {
          await abandon(engine, flight)
          return
        }
      }
    } finally {
      end?.resolve(parkedMs)
    }
    if (!express) await yieldTurn()
  }
}

/** Cells whose results are not settled yet, and the action to go on with. Or the row is to be parked, without cells. */
type Gathered = Settlement & { parking: Parking | null }

/** Runs the current cell, and those after it that may be settled with it. */
export async function gather(
  engine: Engine,
  walk: RowWalk,
  end: CellCaching['end'] | null,
): Promise<Gathered> {
  const { flight, scope } = walk
  const { actions } = flight.facts
  const cells: SettledCell[] = []
  for (let action = flight.position.action; ;) {
    const startedAt = Date.now()
    // A cell that delays the results of others, or whose row is unclaimed, waits for nothing.
    const mayWait = cells.length === 0 && !walk.peeked
    const running = runCell(engine, walk, action, end === null ? null : { end, mayWait })
    const result = running instanceof Promise ? await running : running
    // The cells before it are settled first, and a row that is only peeked at is claimed.
    if (result.kind !== 'settle')
      return { cells, next: action, parking: result.kind === 'later' && mayWait ? result.parking : null }
    const { settlement, halts } = result
    passCell(flight)
    settlement.action = action
    settlement.template = instanceOf(walk, action)?.action_id ?? ''
    settlement.startedAt = startedAt
    cells.push(settlement)
    scope.add(action, settlement.status, settlement.outputs ?? null)
    const next = halts ? null : (actions[actions.indexOf(action) + 1] ?? null)
    const joins = settlement.cached || isPure(walk, action)
    if (next === null || !joins || cells.length >= walk.together || !mayJoin(walk, next))
      return { cells, next, parking: null }
    action = next
  }
}

/** Settles rows in one statement. Returns null for each row that has lost its fence, which `endLate` is to end. */
export async function settle(
  engine: Engine,
  rows: readonly Given[],
  express: boolean,
): Promise<(Settled | null)[]> {
  let answers: (Settled | null)[]
  try {
    answers = await engine.flights.settleAll(rows, express)
  } catch (cause) {
    for (const given of rows) endReservation(engine, given, 'unknown')
    throw cause
  }
  for (const [n, given] of rows.entries()) {
    if ((answers[n] ?? null) === null) continue
    const { flight, settlement } = given
    endReservation(engine, given, 'charged')
    engine.announce(flight.facts.sheet_id)
    engine.countProviders(flight.facts.org_id, settlement.cells)
  }
  return answers
}

/**
 * Ends a row that lost its fence before its cells were settled. A call that was made is charged all the same if the row
 * was deleted, or run again, and no other worker has it. Throws if another worker has the row.
 */
export async function endLate(engine: Engine, given: Given): Promise<void> {
  const { flight, settlement } = given
  let end: ReservationEnd = 'unknown'
  try {
    // A row that nobody claimed (attempt 0) has called nobody.
    const mayBeCharged = flight.fence.attempt > 0 && costOf(settlement) > 0
    end = mayBeCharged && (await engine.flights.chargeLate(given)) ? 'charged' : 'free'
  } finally {
    endReservation(engine, given, end)
  }
  await throwIfTakenOver(engine, flight)
}

/** The end of a reservation. `unknown` means that the database was cut off. */
type ReservationEnd = 'charged' | 'free' | 'unknown'

/** Ends the reservation for the cells of this settlement. */
function endReservation({ reservations }: Engine, { flight, settlement }: Given, end: ReservationEnd): void {
  const reservation = detachReservation(flight)
  if (reservation === null) return
  if (end === 'unknown') reservations.doubt(reservation)
  else reservations.spend(reservation, end === 'charged' ? costOf(settlement) : 0)
}

const costOf = ({ cells }: Settlement): number =>
  cells.reduce((sum, { creditsMillis }) => sum + creditsMillis, 0)

/** Returns the current action, and those after it whose cells may be settled with its own. */
export function listJoined(walk: RowWalk): string[] {
  const { action } = walk.flight.position
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
