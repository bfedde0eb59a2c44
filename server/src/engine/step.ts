import { JobPostponed } from '../lib/job.ts'
import { runCell } from './cells/cell.ts'
import type { Engine, RowWalk } from './engine-context.ts'
import type { Flight, Parking, SettledCell } from './flights/flight.ts'
import { moveTo } from './flights/position.ts'

/**
 * Runs and settles the flight's current cell, and moves it to the next one. False when there is none. Cells of pure actions
 * that follow each other are settled together: a crash takes nothing that is not computed again just so. Any other action
 * starts when everything before it is durable.
 */
export async function step(engine: Engine, walk: RowWalk): Promise<boolean> {
  const { flight, scope } = walk
  const { facts, position } = flight
  // Cells that wait for this one's result in the cache look again only once it is settled, or the row is parked.
  const end = facts.cache_enabled ? Promise.withResolvers<number>() : null
  let parkedMs = 0
  try {
    const cells: SettledCell[] = []
    const together = isPure(walk, position.action) ? walk.together : 1
    let next: string | null = position.action
    do {
      const startedAt = Date.now()
      const result = await runCell(engine, walk, next, end?.promise ?? null)
      if (result.kind === 'lost') await throwIfTakenOver(engine, flight)
      else if (result.kind === 'later') {
        parkedMs = Math.max(1, result.parking.ms)
        await park(engine, flight, result.parking)
      }
      if (result.kind !== 'settle') return false
      const { settlement, halts } = result
      cells.push({ ...settlement, action: next, startedAt })
      scope.add(next, settlement.status, settlement.outputs ?? null)
      next = halts ? null : (facts.actions[facts.actions.indexOf(next) + 1] ?? null)
    } while (next !== null && cells.length < together && isPure(walk, next))
    const settled = await engine.flights.settle(flight, { cells, next }, walk.express)
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

export function isPure({ definition, catalogue }: RowWalk, action: string): boolean {
  const instance = definition.actions.find(({ id }) => id === action)
  return instance !== undefined && catalogue.get(instance.action_id)?.pure === true
}

export async function park(engine: Engine, flight: Flight, parking: Parking): Promise<void> {
  if (!(await engine.flights.park(flight, parking))) await throwIfTakenOver(engine, flight)
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
