import { setTimeout as sleep } from 'node:timers/promises'
import type { ActionContext, SheetAccess } from '../catalog/define.ts'
import type { Catalogue } from '../catalog/registry.ts'
import type { Definition } from '../chain/definition.ts'
import type { Log } from '../lib/log.ts'
import { courtesy } from '../lib/timing/yielding.ts'
import type { RunSurroundings } from '../org/run-environment.ts'
import { isUnavailable } from '../store/connection/db.ts'
import type { CellCache } from './cache.ts'
import { MAX_CLAIMS } from './cell.ts'
import type { Ending } from './ending.ts'
import type { Desk, Flight, RowJob } from './flight-store.ts'
import type { LightRuns } from './pure-runs.ts'
import { createRowScope } from './row-scope.ts'
import type { Slots } from './slots.ts'
import { abandon, isPure, type Leg, putDown, step } from './step.ts'

/** What the walk of a row needs; main puts it together. */
export type Engine = {
  desk: Desk
  cache: CellCache
  catalogue: Catalogue
  log: Log
  /** What every action may use. */
  equipment: Pick<ActionContext, 'egress' | 'sandbox' | 'models' | 'mail' | 'gate'>
  surroundings: RunSurroundings
  /** Tells those who watch a sheet that something of it has changed. */
  announce(sheetId: string): void
  definitionOf(flight: Flight): Promise<Definition>
  sheetsFor(flight: Flight): SheetAccess
  lightRuns: LightRuns
  /** Actions that wait for others at once: for the mass of rows, and for the first of each run. */
  slots: { mass: Slots; express: Slots }
  /** Rows are put down after the cell at hand when the process ends. */
  ending: Ending
}

const MAX_OUTAGES = 8
const LONGEST_PAUSE_MS = 4000
const MAX_TOGETHER = 16

export type Walk = {
  /** Hears when the cell that the row was taken up for is settled. */
  onSettled?: () => void
  /** Among the first rows of a run: it does not wait behind the mass of others. */
  express?: boolean
  /** Nobody had the job before. */
  fresh?: boolean
}

/**
 * Walks a row. When the database is away for a moment the row is taken up again where it is, by the same process.
 */
export async function walkRow(engine: Engine, job: RowJob, how: Walk = {}): Promise<void> {
  for (let outages = 0; ; outages += 1) {
    try {
      await walkOnce(engine, job, MAX_CLAIMS + outages, outages === 0 ? how : { ...how, fresh: false })
      return
    } catch (cause) {
      if (!isUnavailable(cause) || engine.ending.hasBegun() || outages === MAX_OUTAGES) throw cause
      await sleep(Math.min(LONGEST_PAUSE_MS, 125 * 2 ** outages))
    }
  }
}

async function walkOnce(engine: Engine, job: RowJob, maxClaims: number, how: Walk): Promise<void> {
  // Somebody may look at the first rows of a run.
  const leave = how.express === true ? courtesy.begin() : undefined
  await walkAlong(engine, job, { maxClaims, ...how, leave }).finally(leave)
}

/** Takes up a row and walks it along its run's actions. */
async function walkAlong(
  engine: Engine,
  job: RowJob,
  how: Walk & Pick<Leg, 'maxClaims' | 'leave'>,
): Promise<void> {
  const { onSettled, express = false, fresh = false, maxClaims, leave } = how
  // Looking goes with the mass, which the first rows of a run do not wait for.
  const light = fresh && !express && engine.lightRuns.has(job)
  if (light && (await walkLightly(engine, job, maxClaims))) return
  const flight = await engine.desk.claim(job, { urgent: express, fresh: fresh && !light })
  if (flight === null) return
  if (!express) await courtesy.turn()
  const leg = await prepare(engine, flight, { maxClaims, express, leave })
  if (leg === null || flight.run_state === 'stopped') {
    await abandon(engine, flight)
    return
  }
  if (fresh && isAllPure(engine, leg)) engine.lightRuns.add(job)
  for (let goesOn = true; goesOn;) {
    if (engine.ending.hasBegun()) {
      await putDown(engine, flight, { ms: 0, retries: flight.retries, state: flight.state })
      return
    }
    goesOn = await step(engine, leg)
    onSettled?.()
    if (goesOn && !express) await courtesy.turn()
  }
}

/**
 * Computes a row of pure actions while it still counts as queued. Nothing is lost when the process ends: who takes up the row
 * finds it as it was. False when the row must be taken up.
 */
async function walkLightly(engine: Engine, job: RowJob, maxClaims: number): Promise<boolean> {
  const flight = await engine.desk.look(job)
  if (flight === null) return false
  await courtesy.turn()
  const leg = await prepare(engine, flight, { maxClaims, express: false, leave: undefined })
  if (leg === null || engine.ending.hasBegun() || !isAllPure(engine, leg)) return false
  return !(await step(engine, leg))
}

/** Whether all cells of the run can be written as one. */
function isAllPure(engine: Engine, leg: Leg): boolean {
  const { actions } = leg.flight
  return actions.length <= leg.together && actions.every((action) => isPure(engine, leg, action))
}

/** What walking a flight takes; null when its row is gone. */
async function prepare(
  engine: Engine,
  flight: Flight,
  how: Pick<Leg, 'maxClaims' | 'express' | 'leave'>,
): Promise<Leg | null> {
  if (flight.data === null) return null
  const [definition, env] = await Promise.all([
    engine.definitionOf(flight),
    engine.surroundings.envOf(flight),
  ])
  const knownOutputs = (actionId: string, name: string) => {
    const template = engine.catalogue.get(actionId)
    return template === undefined || template.dynamic || Object.hasOwn(template.outputs, name)
  }
  const scope = createRowScope(definition, { data: flight.data, cells: flight.cells }, knownOutputs, env)
  engine.announce(flight.sheet_id)
  // With a cache every cell is looked up by itself. A row that may have ended its worker goes cell by cell, to find the one.
  const together = flight.cache_enabled || flight.strikes > 1 ? 1 : MAX_TOGETHER
  return { flight, definition, scope, env, together, ...how }
}
