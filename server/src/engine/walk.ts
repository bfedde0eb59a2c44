import { setTimeout as sleep } from 'node:timers/promises'
import type { ActionContext, SheetAccess } from '../catalog/define.ts'
import type { Catalogue } from '../catalog/registry.ts'
import type { Definition } from '../chain/definition.ts'
import type { Log } from '../lib/log.ts'
import { foreground, yieldTurn } from '../lib/timing/yielding.ts'
import type { RunEnvironment } from '../org/run-environment.ts'
import { isUnavailable } from '../store/connection/db.ts'
import type { CellCache } from './cache.ts'
import { MAX_CLAIMS } from './cell.ts'
import type { Ending } from './ending.ts'
import type { FlightStore, Flight, RowJob } from './flight-store.ts'
import type { PureRuns } from './pure-runs.ts'
import { createRowScope } from './row-scope.ts'
import type { Slots } from './slots.ts'
import { abandon, isPure, type RowWalk, park, step } from './step.ts'

/** What the walk of a row needs; main puts it together. */
export type Engine = {
  flights: FlightStore
  cache: CellCache
  catalogue: Catalogue
  log: Log
  /** What every action may use. */
  services: Pick<ActionContext, 'egress' | 'sandbox' | 'models' | 'mail' | 'gate'>
  environment: RunEnvironment
  /** Tells those who watch a sheet that something of it has changed. */
  announce(sheetId: string): void
  definitionOf(flight: Flight): Promise<Definition>
  sheetsFor(flight: Flight): SheetAccess
  pureRuns: PureRuns
  /** Actions that wait for others at once: of bulk rows, and of the first rows of each run. */
  slots: { bulk: Slots; express: Slots }
  /** Rows are parked after the cell at hand when the process ends. */
  ending: Ending
}

const MAX_OUTAGES = 8
const MAX_PAUSE_MS = 4000
const MAX_TOGETHER = 16

export type WalkOptions = {
  /** Hears when the cell that the row was claimed for is settled. */
  onSettled?: () => void
  /** Among the first rows of a run: it does not wait behind bulk rows. */
  express?: boolean
  /** Nobody had the job before. */
  fresh?: boolean
}

/**
 * Walks a row. When the database is away for a moment the row is claimed again where it is, by the same process.
 */
export async function walkRow(engine: Engine, job: RowJob, how: WalkOptions = {}): Promise<void> {
  for (let outages = 0; ; outages += 1) {
    try {
      await walkOnce(engine, job, MAX_CLAIMS + outages, outages === 0 ? how : { ...how, fresh: false })
      return
    } catch (cause) {
      if (!isUnavailable(cause) || engine.ending.hasBegun() || outages === MAX_OUTAGES) throw cause
      await sleep(Math.min(MAX_PAUSE_MS, 125 * 2 ** outages))
    }
  }
}

async function walkOnce(engine: Engine, job: RowJob, maxClaims: number, how: WalkOptions): Promise<void> {
  // Somebody may look at the first rows of a run.
  const endPriority = how.express === true ? foreground() : undefined
  await walkAlong(engine, job, { maxClaims, ...how, endPriority }).finally(endPriority)
}

/** Claims a row and walks it along its run's actions. */
async function walkAlong(
  engine: Engine,
  job: RowJob,
  how: WalkOptions & Pick<RowWalk, 'maxClaims' | 'endPriority'>,
): Promise<void> {
  const { onSettled, express = false, fresh = false, maxClaims, endPriority } = how
  // Peeking is bulk work, which the first rows of a run do not wait for.
  const peeks = fresh && !express && engine.pureRuns.has(job)
  if (peeks && (await walkPurely(engine, job, maxClaims))) return
  const flight = await engine.flights.claim(job, { express, fresh: fresh && !peeks })
  if (flight === null) return
  if (!express) await yieldTurn()
  const walk = await prepare(engine, flight, { maxClaims, express, endPriority })
  if (walk === null || flight.run_state === 'stopped') {
    await abandon(engine, flight)
    return
  }
  if (fresh && isAllPure(engine, walk)) engine.pureRuns.add(job)
  for (let goesOn = true; goesOn;) {
    if (engine.ending.hasBegun()) {
      await park(engine, flight, { ms: 0, retries: flight.retries, state: flight.state })
      return
    }
    goesOn = await step(engine, walk)
    onSettled?.()
    if (goesOn && !express) await yieldTurn()
  }
}

/**
 * Computes a row of pure actions while it still counts as queued. Nothing is lost when the process ends: whoever claims the row
 * finds it as it was. False when the row must be claimed.
 */
async function walkPurely(engine: Engine, job: RowJob, maxClaims: number): Promise<boolean> {
  const flight = await engine.flights.peek(job)
  if (flight === null) return false
  await yieldTurn()
  const walk = await prepare(engine, flight, { maxClaims, express: false, endPriority: undefined })
  if (walk === null || engine.ending.hasBegun() || !isAllPure(engine, walk)) return false
  return !(await step(engine, walk))
}

/** Whether all cells of the run can be written as one. */
function isAllPure(engine: Engine, walk: RowWalk): boolean {
  const { actions } = walk.flight
  return actions.length <= walk.together && actions.every((action) => isPure(engine, walk, action))
}

/** What walking a flight takes; null when its row is gone. */
async function prepare(
  engine: Engine,
  flight: Flight,
  how: Pick<RowWalk, 'maxClaims' | 'express' | 'endPriority'>,
): Promise<RowWalk | null> {
  if (flight.data === null) return null
  const [definition, env] = await Promise.all([engine.definitionOf(flight), engine.environment.envOf(flight)])
  const knownOutputs = (actionId: string, name: string) => {
    const template = engine.catalogue.get(actionId)
    return template === undefined || template.dynamic || Object.hasOwn(template.outputs, name)
  }
  const scope = createRowScope(definition, { data: flight.data, cells: flight.cells }, knownOutputs, env)
  engine.announce(flight.sheet_id)
  // With a cache every cell is looked up by itself. A row that may have ended its worker goes cell by cell, to find the one.
  const together = flight.cache_enabled || flight.stalled_claims > 1 ? 1 : MAX_TOGETHER
  return { flight, definition, scope, env, together, ...how }
}
