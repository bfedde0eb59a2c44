import { setTimeout as sleep } from 'node:timers/promises'
import type { ActionContext, SheetAccess } from '../catalog/define.ts'
import type { Catalogue } from '../catalog/registry.ts'
import type { Definition } from '../chain/definition.ts'
import { courtesy } from '../lib/courtesy.ts'
import type { Log } from '../lib/log.ts'
import type { RunSurroundings } from '../org/run-surroundings.ts'
import { isUnavailable } from '../store/db.ts'
import type { CellCache } from './cache.ts'
import { MAX_CLAIMS, runCell } from './cell.ts'
import type { Desk, Flight, Parking, RowJob, SettledCell } from './desk.ts'
import type { Ending } from './ending.ts'
import type { LightRuns } from './light-runs.ts'
import { createRowScope, type RowScope } from './row-scope.ts'
import type { Slots } from './slots.ts'

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

export const TAKEN_OVER = 'another worker has taken over the row'
/** Somebody else has the row now, and the job with it: it must not be reported as done. */
export class RowTakenOver extends Error {
  override name = 'RowTakenOver'
}

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
  const light = fresh && engine.lightRuns.has(job)
  if (light && !(await walkLightly(engine, job, maxClaims))) return
  const flight = await engine.desk.claim(job, { urgent: express, fresh: fresh && !light })
  if (flight === null) return
  if (!express) await courtesy.turn()
  const leg = await prepare(engine, flight, { maxClaims, express, leave })
  if (leg === null || flight.run_state === 'stopped') {
    await abandon(engine, flight)
    return
  }
  if (fresh && leg.together > 1 && isPure(engine, leg, flight.action)) engine.lightRuns.add(job)
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
 * Computes the pure cells that a row begins with while it still counts as queued. Nothing is lost when the process ends: who
 * takes up the row finds it as it was. True when it is to be taken up.
 */
async function walkLightly(engine: Engine, job: RowJob, maxClaims: number): Promise<boolean> {
  const flight = await engine.desk.look(job)
  if (flight === null) return true
  await courtesy.turn()
  const leg = await prepare(engine, flight, { maxClaims, express: false, leave: undefined })
  if (leg === null || engine.ending.hasBegun() || !isPure(engine, leg, leg.flight.action)) return true
  return step(engine, leg)
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

async function putDown(engine: Engine, flight: Flight, parking: Parking): Promise<void> {
  if (!(await engine.desk.park(flight, parking))) await leave(engine, flight)
}

async function abandon(engine: Engine, flight: Flight): Promise<void> {
  if (!(await engine.desk.abandon(flight))) await leave(engine, flight)
}

/** The fence is lost. The job is done when the row is out of the air, and another worker's when it is not. */
async function leave(engine: Engine, flight: Flight): Promise<void> {
  if (await engine.desk.isInTheAir(flight)) throw new RowTakenOver(TAKEN_OVER)
}

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
async function step(engine: Engine, leg: Leg): Promise<boolean> {
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

function isPure(engine: Engine, { definition }: Leg, action: string): boolean {
  const instance = definition.actions.find(({ id }) => id === action)
  return instance !== undefined && engine.catalogue.get(instance.action_id)?.pure === true
}
