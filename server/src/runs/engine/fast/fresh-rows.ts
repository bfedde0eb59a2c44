import { setImmediate as nextTurn } from 'node:timers/promises'
import { isUnavailable } from '../../../database/connection/db.ts'
import type { HandedRow } from '../../../database/queue/hand-over.ts'
import { isOn } from '../../../lib/fast-parts.ts'
import { foreground, yieldTurn } from '../../../lib/timing/yielding.ts'
import type { Engine, RowWalk } from '../engine-context.ts'
import type { Flight, RowJob, RunFacts } from '../flights/flight.ts'
import type { Given } from '../flights/settler.ts'
import { endLate, gather, isPure, listJoined, settle } from '../walk-cells.ts'
import { giveBackReservation, mayBeWhole, prepare, type WalkOptions, walkRow } from '../walk.ts'
import { lookAhead } from './look-ahead.ts'

/** The inputs and results of a row, read when its job was made. */
export type Handed = Pick<HandedRow, 'data' | 'cells'> & { facts: RunFacts }

/** The end of a cell whose result no other cell waits for. */
const NO_END = Promise.resolve(0)

/**
 * Walks the fresh rows of one job. Errors are raised after the whole group.
 */
export async function walkGroup(engine: Engine, jobs: readonly RowJob[]): Promise<void> {
  const [first] = jobs
  if (first === undefined) return
  const rows = new FreshRows(engine)
  await engine.pureRuns.whenKnown(first)
  if (isOn('peek') && engine.pureRuns.has(first)) await rows.walk(jobs, engine.flights.peekAll(jobs))
  else rows.leave(jobs, { fresh: true })
  await rows.claimTheRest()
}

/** Walks one of the first rows of a run. Groups of rows wait for what is found out about it. */
export async function walkHanded(engine: Engine, job: RowJob, handed: Handed): Promise<void> {
  const endPriority = foreground()
  const endLook = engine.pureRuns.lookAt(job)
  const rows = new FreshRows(engine, { endPriority, endLook })
  try {
    if (isOn('peek')) await rows.walk([job], Promise.resolve([engine.flights.adopt(job, handed)]))
    else rows.leave([job], { express: true, fresh: true })
  } finally {
    endLook()
    endPriority()
  }
  await rows.claimTheRest()
}

/**
 * Computes rows of pure actions, or of results from the cache, while they still count as queued, and settles those
 * together that are ready at the same time. Nothing is lost when the process ends: the next worker that claims a row
 * finds it as it was. Rows that cannot be finished in this way are claimed.
 */
class FreshRows {
  readonly #engine: Engine
  /** The priority of a row that somebody may be waiting for. */
  readonly #first: { endPriority: () => void; endLook: () => void } | undefined
  readonly #left: { job: RowJob; how: WalkOptions }[] = []
  readonly #faults: unknown[] = []
  #ready: Given[] = []
  #settling: Promise<ReadonlySet<Given>> | null = null

  constructor(engine: Engine, first?: { endPriority: () => void; endLook: () => void }) {
    this.#engine = engine
    this.#first = first
  }

  get #express(): boolean {
    return this.#first !== undefined
  }

  leave(jobs: readonly RowJob[], how: WalkOptions): void {
    for (const job of jobs) this.#left.push({ job, how })
  }

  async walk(jobs: readonly RowJob[], reading: Promise<(Flight | null)[]>): Promise<void> {
    let open = jobs
    try {
      const flights = await reading
      if (!this.#express) await yieldTurn(jobs.length)
      const walks = await Promise.all(jobs.map((job, n) => this.#prepare(job, flights[n] ?? null)))
      const rows: { job: RowJob; walk: RowWalk }[] = []
      for (const [n, job] of jobs.entries()) {
        const walk = walks[n] ?? null
        if (walk === null) this.leave([job], { express: this.#express })
        else rows.push({ job, walk })
      }
      open = rows.map(({ job }) => job)
      const cached = rows.flatMap(({ walk }) => (walk.flight.facts.cache_enabled ? [walk] : []))
      await lookAhead(this.#engine, cached, listJoined)
      await Promise.all(rows.map(({ job, walk }) => this.#finish(job, walk)))
    } catch (cause) {
      this.#note(open, cause)
    }
  }

  async claimTheRest(): Promise<void> {
    await Promise.all(
      this.#left.map(({ job, how }) =>
        walkRow(this.#engine, job, how).catch((cause: unknown) => this.#faults.push(cause)),
      ),
    )
    if (this.#faults.length > 0) throw this.#faults[0]
  }

  /** Notes an error. After an outage rows are claimed again. */
  #note(jobs: readonly RowJob[], cause: unknown): void {
    if (isUnavailable(cause)) this.leave(jobs, { express: this.#express, resumed: true })
    else this.#faults.push(cause)
  }

  /** Returns the walk of a row that can probably be finished without a claim, or null. */
  async #prepare(job: RowJob, flight: Flight | null): Promise<RowWalk | null> {
    const engine = this.#engine
    if (flight === null || flight.row.unreadBytes > 0) return null
    const endPriority = this.#first?.endPriority
    const walk = await prepare(engine, flight, { express: this.#express, endPriority, peeked: true })
    if (walk === null || engine.ending.hasBegun()) return null
    // A lookup of results in the cache is not worth it for a single row.
    const { actions } = flight.facts
    const isFit =
      mayBeWhole(walk) && (this.#first === undefined || actions.every((action) => isPure(walk, action)))
    if (!isFit) engine.pureRuns.remove(job)
    else if (this.#first !== undefined) engine.pureRuns.add(job)
    this.#first?.endLook()
    return isFit ? walk : null
  }

  /** Computes and settles a row, or leaves it to be claimed if not all cells can be computed without a claim. */
  async #finish(job: RowJob, walk: RowWalk): Promise<void> {
    const { flight } = walk
    try {
      const settlement = await gather(this.#engine, walk, flight.facts.cache_enabled ? NO_END : null)
      if (settlement.cells.length > 0 && settlement.next === null) await this.#settle({ flight, settlement })
      else {
        this.#engine.pureRuns.remove(job)
        this.leave([job], { express: this.#express })
      }
    } catch (cause) {
      this.#note([job], cause)
    } finally {
      giveBackReservation(this.#engine, flight)
    }
  }

  /** Settles a row together with all that are ready in the same turn. */
  async #settle(given: Given): Promise<void> {
    this.#ready.push(given)
    this.#settling ??= nextTurn().then(() => this.#settleReady())
    const settled = await this.#settling
    if (!settled.has(given)) await endLate(this.#engine, given)
  }

  async #settleReady(): Promise<ReadonlySet<Given>> {
    const ready = this.#ready
    this.#ready = []
    this.#settling = null
    const answers = await settle(this.#engine, ready, this.#express)
    return new Set(ready.filter((_, n) => (answers[n] ?? null) !== null))
  }
}
