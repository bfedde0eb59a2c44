import type { Definition } from '../chain/definition.ts'
import { runCell } from './cell.ts'
import type { Flight, Parking, SettledCell } from './flight-store.ts'
import type { RowScope } from './row-scope.ts'
import type { Engine } from './walk.ts'

/** What it takes to walk a flight that a worker has in hand. */
export type Leg = {
  flight: Flight
  definition: Definition
  scope: RowScope
  env: ReadonlyMap<string, string>
  maxClaims: number
  express: boolean
  /** Says that nobody need give way to the row any more: it waits itself. */
  leave: (() => void) | undefined
  /** Cells of pure actions that are written together. */
  together: number
}

/**
 * Runs and settles the flight's current cell, and moves it to the next one. False when there is none. Cells of pure actions
 * that follow each other are settled together: a crash takes nothing that is not computed again just so. Any other action
 * starts when everything before it is durable.
 */
export async function step(engine: Engine, leg: Leg): Promise<boolean> {
  const { flight, scope } = leg
  // Cells that wait for this one's result in the cache look again only once it is settled.
  const settling = flight.cache_enabled ? Promise.withResolvers<void>() : null
  try {
    const cells: SettledCell[] = []
    const together = isPure(engine, leg, flight.action) ? leg.together : 1
    let next: string | null = flight.action
    do {
      flight.action = next
      const startedAt = Date.now()
      const result = await runCell(engine, leg, settling?.promise ?? null)
      if (result.kind === 'lost') await leave(engine, flight)
      else if (result.kind === 'later') await putDown(engine, flight, result.parking)
      if (result.kind !== 'settle') return false
      const { settlement, halts } = result
      cells.push({ ...settlement, action: next, startedAt })
      scope.add(next, settlement.status, settlement.outputs ?? null)
      next = halts ? null : (flight.actions[flight.actions.indexOf(next) + 1] ?? null)
    } while (next !== null && cells.length < together && isPure(engine, leg, next))
    const settled = await engine.desk.settle(flight, { cells, next }, leg.express)
    if (settled === null) await leave(engine, flight)
    else engine.announce(flight.sheet_id)
    if (settled === null || next === null) return false
    Object.assign(flight, { action: next, strikes: 1, retries: 0, held_millis: 0, state: null })
    if (settled.runState !== 'stopped') return true
    await abandon(engine, flight)
    return false
  } finally {
    settling?.resolve()
  }
}

export function isPure(engine: Engine, { definition }: Leg, action: string): boolean {
  const instance = definition.actions.find(({ id }) => id === action)
  return instance !== undefined && engine.catalogue.get(instance.action_id)?.pure === true
}

export async function putDown(engine: Engine, flight: Flight, parking: Parking): Promise<void> {
  if (!(await engine.desk.park(flight, parking))) await leave(engine, flight)
}

export async function abandon(engine: Engine, flight: Flight): Promise<void> {
  if (!(await engine.desk.abandon(flight))) await leave(engine, flight)
}

/** The fence is lost. The job is done when the row is out of the air, and another worker's when it is not. */
async function leave(engine: Engine, flight: Flight): Promise<void> {
  if (await engine.desk.isInTheAir(flight)) throw new RowTakenOver(TAKEN_OVER)
}

export const TAKEN_OVER = 'another worker has taken over the row'
/** Somebody else has the row now, and the job with it: it must not be reported as done. */
export class RowTakenOver extends Error {
  override name = 'RowTakenOver'
}
