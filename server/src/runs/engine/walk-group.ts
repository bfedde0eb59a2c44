import { setImmediate as nextTurn } from 'node:timers/promises'
import { isUnavailable } from '../../database/connection/db.ts'
import { isOn } from '../../lib/fast-parts.ts'
import { yieldTurn } from '../../lib/timing/yielding.ts'
import { listLookups } from './cells/cell.ts'
import type { Engine, RowWalk } from './engine-context.ts'
import type { RowJob } from './flights/flight.ts'
import type { Given } from './flights/settler.ts'
import { gather, type Gathered, isWhole, settleWhole, walkCells } from './walk-cells.ts'
import { giveBackReservation, mayBeWhole, prepare, type WalkOptions, walkRow } from './walk.ts'

/** The number of rows computed in one turn of the event loop. Requests may wait for the end of a turn. */
const ROWS_PER_TURN = 8
/** The end of a cell from the cache, whose result no other cell waits for. */
const NO_END = Promise.resolve(0)

type Looked = { job: RowJob; walk: RowWalk }
/** A row that waits to be written. Nothing is kept of it but what is written. */
type Computed = Given & { job: RowJob }

/**
 * Walks fresh rows of one run. Errors are raised after the whole group.
 *
 * Rows of pure actions wait for their turn here, and no objects are made for them before: objects that wait for long
 * become old to the garbage collector, and everything made later that belongs to them is then kept until the whole heap
 * is collected.
 */
export async function walkGroup(engine: Engine, jobs: readonly RowJob[]): Promise<void> {
  const [first] = jobs
  if (first === undefined) return
  const looking = isOn('peek') ? engine.pureRuns.whenKnown(first) : undefined
  if (looking !== undefined) await looking
  if (!isOn('peek') || !isOn('group-walk') || !engine.pureRuns.has(first)) return walkOneByOne(engine, jobs)
  const turn = engine.slots.peeked.take(first.o, jobs.length)
  if (turn !== undefined) await turn
  await walkTogether(engine, jobs, first.o)
}

function walkOneByOne(engine: Engine, jobs: readonly RowJob[]): Promise<void> {
  const group = new Group(engine, jobs)
  group.leave(jobs, { fresh: true })
  return group.walkTheRest()
}

async function walkTogether(engine: Engine, jobs: readonly RowJob[], org: string): Promise<void> {
  const group = new Group(engine, jobs)
  try {
    await group.walkTogether()
  } finally {
    engine.slots.peeked.giveBack(org, jobs.length)
  }
  await group.walkTheRest()
}

/**
 * Looks at, computes and settles rows of pure actions, or of results from the cache, together, which costs far less
 * than one by one. Rows that have to wait for something go on by themselves, and rows that must be claimed are left for
 * the end.
 */
class Group {
  readonly #engine: Engine
  readonly #jobs: readonly RowJob[]
  readonly #left: { job: RowJob; how: WalkOptions }[] = []
  readonly #faults: unknown[] = []
  #late: Computed[] = []
  #settlingLate: Promise<void> | null = null

  constructor(engine: Engine, jobs: readonly RowJob[]) {
    this.#engine = engine
    this.#jobs = jobs
  }

  leave(jobs: readonly RowJob[], how: WalkOptions): void {
    for (const job of jobs) this.#left.push({ job, how })
  }

  async walkTogether(): Promise<void> {
    let looked: Looked[] = []
    await this.#noting(this.#jobs, async () => void (looked = await this.#look()))
    await this.#noting(
      looked.map(({ job }) => job),
      () => this.#computeAndSettle(looked),
    )
  }

  async walkTheRest(): Promise<void> {
    await Promise.all(
      this.#left.map(({ job, how }) =>
        walkRow(this.#engine, job, how).catch((cause: unknown) => this.#faults.push(cause)),
      ),
    )
    if (this.#faults.length > 0) throw this.#faults[0]
  }

  /**
   * Does some work for these jobs and notes its error. After an outage the rows are claimed again, as a row that is
   * walked alone.
   */
  async #noting(jobs: readonly RowJob[], work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (cause) {
      if (isUnavailable(cause)) this.leave(jobs, { resumed: true })
      else this.#faults.push(cause)
    }
  }

  async #look(): Promise<Looked[]> {
    const engine = this.#engine
    const flights = await engine.flights.peekAll(this.#jobs)
    const looked: Looked[] = []
    const others: RowJob[] = []
    await inTurns([...this.#jobs.entries()], async ([n, job]) => {
      const flight = flights[n] ?? null
      const isRead = flight !== null && flight.row.unreadBytes === 0
      const walk = isRead ? await prepare(engine, flight, BULK) : null
      if (walk === null || engine.ending.hasBegun() || !mayBeWhole(walk)) others.push(job)
      else looked.push({ job, walk })
    })
    this.leave(others, MUST_BE_CLAIMED)
    return looked
  }

  /** Computes and settles the rows of the list, and empties the list. */
  async #computeAndSettle(looked: Looked[]): Promise<void> {
    const engine = this.#engine
    const whole: Computed[] = []
    const alone: Promise<void>[] = []
    const goOnAlone = (one: Looked, work: () => Promise<boolean>) =>
      alone.push(this.#noting([one.job], async () => this.#finish(one, work)))
    await lookUp(engine, looked)
    const compute = (one: Looked) => {
      const { job, walk } = one
      if (!isAllFound(walk)) {
        goOnAlone(one, () => walkCells(engine, walk))
        return
      }
      const gathered = gather(engine, walk, walk.lookups === null ? null : NO_END)
      if (gathered instanceof Promise) goOnAlone(one, async () => this.#settleLater(one, await gathered))
      else if (isWhole(gathered)) whole.push({ job, flight: walk.flight, settlement: gathered })
      else goOnAlone(one, async () => false)
    }
    await inTurns(looked, (one) => {
      try {
        compute(one)
      } catch (cause) {
        goOnAlone(one, () => Promise.reject(cause))
      }
    })
    looked.length = 0
    await this.#noting(
      whole.map(({ job }) => job),
      () => this.#settle(whole),
    )
    await Promise.all(alone)
  }

  /**
   * Settles a row together with all whose results come at the same time: of formulas that were evaluated together, or
   * when credits were granted.
   */
  async #settleLater({ job, walk }: Looked, gathered: Gathered): Promise<boolean> {
    if (!isWhole(gathered)) return false
    this.#late.push({ job, flight: walk.flight, settlement: gathered })
    this.#settlingLate ??= nextTurn().then(() => {
      const late = this.#late
      this.#late = []
      this.#settlingLate = null
      return this.#noting(
        late.map((one) => one.job),
        () => this.#settle(late),
      )
    })
    await this.#settlingLate
    return true
  }

  async #settle(whole: readonly Computed[]): Promise<void> {
    if (whole.length === 0) return
    try {
      this.#faults.push(...(await settleWhole(this.#engine, whole)))
    } finally {
      for (const { flight } of whole) giveBackReservation(this.#engine, flight)
    }
  }

  /** Finishes the row, or leaves it to be claimed. */
  async #finish({ job, walk }: Looked, work: () => Promise<boolean>): Promise<void> {
    try {
      if (!(await work())) this.leave([job], MUST_BE_CLAIMED)
    } finally {
      giveBackReservation(this.#engine, walk.flight)
    }
  }
}

const MUST_BE_CLAIMED: WalkOptions = { fresh: true, peeked: true }
const BULK = { express: false, endPriority: undefined, peeked: true } as const

/** Looks up all cells in the cache at once, if the cache is enabled. */
async function lookUp(engine: Engine, looked: readonly Looked[]): Promise<void> {
  const early = looked.flatMap(({ walk }) => {
    const { cache_enabled, actions } = walk.flight.facts
    return cache_enabled && isOn('lookahead') ? listLookups(walk, actions) : []
  })
  if (early.length === 0) return
  const hits = await engine.cache.look(
    early.map(({ asked }) => asked),
    false,
  )
  for (const [n, { lookup }] of early.entries()) lookup.hit = hits[n] ?? null
}

/** Returns whether the cache has all cells of a row, or is not enabled. */
function isAllFound({ flight: { facts }, lookups }: RowWalk): boolean {
  return !facts.cache_enabled || facts.actions.every((action) => (lookups?.get(action)?.hit ?? null) !== null)
}

async function inTurns<Item>(
  items: readonly Item[],
  work: (item: Item) => void | Promise<void>,
): Promise<void> {
  for (let from = 0; from < items.length; from += ROWS_PER_TURN) {
    const some = items.slice(from, from + ROWS_PER_TURN)
    await yieldTurn(some.length)
    for (const item of some) {
      const working = work(item)
      if (working instanceof Promise) await working
    }
  }
}
