import type { Action } from '../catalog/define.ts'
import type { ActionInstance } from '../chain/definition.ts'
import { JobPostponed } from '../lib/job.ts'
import { lookAhead, runCell } from './cells/cell.ts'
import type { Engine, RowWalk } from './engine-context.ts'
import type { Flight, Parking, SettledCell, Settlement } from './flights/flight.ts'
import { moveTo, passCell, takeHold } from './flights/position.ts'

/**
 * Runs and settles the flight's current cell, and moves it to the next one. False when there is none. Cells of pure actions and
 * results from the cache that follow each other are settled together: a crash takes nothing that is not computed, or found,
 * again just so. Any other action starts when everything before it is durable.
 */
export async function step(engine: Engine, walk: RowWalk): Promise<boolean> {
  const { flight, scope } = walk
  const { facts, position } = flight
  // Cells that wait for this one's result in the cache look again only once it is settled, or the row is parked.
  const end = facts.cache_enabled ? Promise.withResolvers<number>() : null
  let parkedMs = 0
  try {
    const cells: SettledCell[] = []
    let next: string | null = position.action
    let joins = true
    if (end !== null && walk.lookups === null) lookAhead(engine, walk, joinedFrom(walk, next))
    do {
      const startedAt = Date.now()
      const mayWait = cells.length === 0 && !walk.peeked
      const running = runCell(engine, walk, next, end === null ? null : { end: end.promise, mayWait })
      // Most cells of pure actions are there at once.
      const result = running instanceof Promise ? await running : running
      // What came before it is settled first, and a row that is only peeked at is claimed.
      if (result.kind === 'not yet' || (result.kind === 'later' && !mayWait)) break
      if (result.kind === 'later') {
        parkedMs = Math.max(1, result.parking.ms)
        await park(engine, flight, result.parking)
        return false
      }
      const { settlement, halts } = result
      passCell(flight)
      settlement.action = next
      settlement.template = instanceOf(walk, next)?.action_id ?? ''
      settlement.startedAt = startedAt
      cells.push(settlement)
      scope.add(next, settlement.status, settlement.outputs ?? null)
      joins = settlement.cached || isPure(walk, next)
      next = halts ? null : (facts.actions[facts.actions.indexOf(next) + 1] ?? null)
    } while (next !== null && joins && cells.length < walk.together && mayJoin(walk, next))
    if (cells.length === 0 || (walk.peeked && next !== null)) return true
    const settled = await settle(engine, walk, { cells, next })
    if (settled === null) await throwIfTakenOver(engine, flight)
    else {
      engine.announce(facts.sheet_id)
      engine.countProviders(facts.org_id, cells)
    }
    if (settled === null || next === null) return false
    moveTo(flight, next)
    if (settled.runState !== 'stopped') return true
    await abandon(engine, flight)
    return false
  } finally {
    end?.resolve(parkedMs)
  }
}

/** Settles cells, and what was set aside for them: charged, given back, or unknown when the database was cut off. */
async function settle(
  engine: Engine,
  { flight, express }: RowWalk,
  settlement: Settlement,
): Promise<{ runState: string } | null> {
  const { hold } = flight.position
  try {
    const settled = await engine.flights.settle(flight, settlement, express)
    const cost = settlement.cells.reduce((sum, { creditsMillis }) => sum + creditsMillis, 0)
    if (takeHold(flight) !== null && hold !== null) engine.purses.spend(hold, settled === null ? 0 : cost)
    return settled
  } catch (cause) {
    if (takeHold(flight) !== null && hold !== null) engine.purses.doubt(hold)
    throw cause
  }
}

/** The action, and those after it whose cells may be settled with its own. */
function joinedFrom(walk: RowWalk, action: string): string[] {
  const { actions } = walk.flight.facts
  const rest = actions.slice(actions.indexOf(action), actions.indexOf(action) + walk.together)
  const end = rest.findIndex((one, n) => n > 0 && !mayJoin(walk, one))
  return end === -1 ? rest : rest.slice(0, end)
}

/** Whether the cell may be settled with those before it: it is of a pure action, or may be in the cache. */
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
  definition.actions.find(({ id }) => id === action)

export async function park(engine: Engine, flight: Flight, parking: Parking): Promise<void> {
  const { facts, row } = flight
  const place = { orgId: facts.org_id, runId: facts.run_id, rowId: row.id }
  const hold = takeHold(flight)
  if (hold !== null) engine.purses.parked.keep(place, hold)
  if (!(await engine.flights.park(flight, parking))) {
    const unused = engine.purses.parked.take(place)
    if (unused !== null) engine.purses.spend(unused, 0)
    await throwIfTakenOver(engine, flight)
  }
}

export async function abandon(engine: Engine, flight: Flight): Promise<void> {
  if (!(await engine.flights.abandon(flight))) await throwIfTakenOver(engine, flight)
}

/** The fence is lost. The job is done when the row is out of the air, and another worker's when it is not. */
async function throwIfTakenOver(engine: Engine, flight: Flight): Promise<void> {
  if (await engine.flights.isInTheAir(flight)) throw new RowTakenOver('another worker has taken over the row')
}

/** Somebody else has the row now, and the job with it: it must not be reported as done. */
export class RowTakenOver extends JobPostponed {
  override name = 'RowTakenOver'
}
