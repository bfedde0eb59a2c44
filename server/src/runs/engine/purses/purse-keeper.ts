import type { Db, Store } from '../../../database/connection/db.ts'
import { reasonOf } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { Need, Refusal } from '../../../money/store/purses/take.ts'
import type { RunFacts } from '../flights/flight.ts'
import { type Asked, type Asking, Questions } from './asking.ts'
import { Holders } from './holders.ts'
import { createParkedHolds, type ParkedHolds } from './parked-holds.ts'
import { createRunHolds, type RunHolds } from './run-holds.ts'
import { createRunPurses, type RunPurses } from './run-purses.ts'
import type { Hold } from './share.ts'

const MIN_WAIT_MS = 300
/** The time for which a cell waits in place for the end of another cell's hold. */
const IN_PLACE_MS = 1000
const MAX_WAIT_MS = 5000

/**
 * Reserves credits for cells about to run, in memory, within the shares that this process has of every purse: the
 * balance, the cap of the run, budgets. Thousands of cells cost a few statements a second, and no purse is locked once
 * per cell.
 */
export type PurseKeeper = {
  /**
   * Reserves `more` if this process has it at once, and returns null otherwise. Most cells need no more than this call.
   */
  holdAtOnce(facts: RunFacts, hold: Hold | null, more: number): Hold | null
  /**
   * Reserves `more`, so that the cell of the row has `total`: at once if this process has as much. If other cells hold
   * it, a cell that has nothing yet waits a moment for the end of their holds. Rows that wait at the same time are
   * served in their order (D93).
   */
  hold(facts: RunFacts, hold: Hold | null, need: Need, rowId?: string): Promise<Held> | Held
  /** Ends a hold, of which `millis` were charged. */
  spend(hold: Hold, millis: number): void
  /** Ends a hold of which it is unknown whether it was charged. */
  doubt(hold: Hold): void
  /** The holds of parked flights, as long as this process may go on with them. */
  parked: ParkedHolds
  /** Returns how long a cell stays parked while other cells hold the credits that it needs. */
  waitMs(): number
  /** Lists the ids under which this process has shares, for its heartbeat. */
  holderIds(): string[]
  /**
   * Folds charges, gives back what is not needed, and ends the shares of dead holders. Call it every second.
   * `giveBackIdle` is called more often.
   */
  tick(): Promise<void>
  giveBackIdle(): Promise<void>
  /** Ends all shares, when no row is walked any more. */
  flush(): Promise<void>
}

export type Held = { hold: Hold } | { refusal: Refusal }

export function createPurseKeeper(store: Store, log: Log, inPlaceMs = IN_PLACE_MS): PurseKeeper {
  return new MemoryKeeper(store.system, log, inPlaceMs)
}

class MemoryKeeper implements PurseKeeper {
  readonly parked: ParkedHolds
  readonly #holders: Holders
  readonly #questions: Questions
  readonly #runHolds: RunHolds
  readonly #runPurses: RunPurses
  readonly #log: Log
  readonly #inPlaceMs: number
  readonly #waits = new WaitingTimes()

  constructor(db: Db, log: Log, inPlaceMs: number) {
    this.#log = log
    this.#inPlaceMs = inPlaceMs
    this.#holders = new Holders(db, (holder) => this.parked.drop((hold) => hold.holder === holder))
    this.#questions = new Questions(db, this.#holders)
    this.#runHolds = createRunHolds(db)
    this.#runPurses = createRunPurses(db)
    this.parked = createParkedHolds(db, (hold) => this.spend(hold, 0))
  }

  holdAtOnce(facts: RunFacts, held: Hold | null, more: number): Hold | null {
    const purseIds = held?.purseIds ?? this.#runPurses.known(facts)
    const holder = held?.holder ?? this.#holders.current
    const shares = held?.shares ?? holder.sharesIn(facts.org_id)
    if (purseIds === null || !shares.covers(purseIds, more)) return null
    const hold = held ?? newHold({ holder, shares, purseIds }, facts)
    this.#reserve(hold, more)
    if (held === null) {
      shares.uses += 1
      holder.holds += 1
    }
    return hold
  }

  hold(facts: RunFacts, held: Hold | null, need: Need, rowId = ''): Promise<Held> | Held {
    const hold = this.holdAtOnce(facts, held, need.more)
    return hold === null ? this.#holdLater(held, { facts, rowId, need }) : { hold }
  }

  #reserve(hold: Hold, more: number): void {
    hold.shares.hold(hold.purseIds, more)
    hold.millis += more
    this.#runHolds.add(hold, more)
  }

  /** Reserves credits for which the database is asked first. */
  async #holdLater(held: Hold | null, asking: Asking): Promise<Held> {
    const { facts } = asking
    const holder = held?.holder ?? this.#holders.current
    const shares = held?.shares ?? holder.sharesIn(facts.org_id)
    shares.uses += 1
    holder.holds += 1
    let isKept = false
    try {
      const purseIds = held?.purseIds ?? this.#runPurses.known(facts) ?? (await this.#runPurses.read(facts))
      const hold = held ?? newHold({ holder, shares, purseIds }, facts)
      const refusal = await this.#askUntilHeld(hold, asking, held === null)
      if (refusal !== null) return { refusal }
      isKept = held === null
      return { hold }
    } finally {
      if (!isKept) {
        shares.uses -= 1
        holder.holds -= 1
      }
      shares.noteUse()
    }
  }

  /** Reserves credits as soon as they are there. Returns the refusal if they do not come in time. */
  async #askUntilHeld(hold: Hold, asking: Asking, mayWait: boolean): Promise<Refusal | null> {
    const { shares, purseIds } = hold
    const { more } = asking.need
    const reserve = () => this.#reserve(hold, more)
    for (;;) {
      if (shares.covers(purseIds, more)) {
        reserve()
        return null
      }
      const { count } = shares.ends
      const answer = await this.#questions.ask(hold, asking, reserve)
      if (answer === 'held') return null
      if (answer.isFinal) return answer
      // Two cells that both hold credits could wait for each other.
      if (!mayWait || !(await shares.ends.next(count, asking.rowId, this.#inPlaceMs))) {
        this.#waits.note()
        return answer
      }
    }
  }

  spend(hold: Hold, millis: number): void {
    const { holder, shares, purseIds } = hold
    shares.release(purseIds, hold.millis, millis)
    if (millis > 0) shares.hasCharges = true
    this.#runHolds.add(hold, -hold.millis)
    shares.uses -= 1
    shares.noteUse()
    holder.holds -= 1
    hold.millis = 0
  }

  doubt(hold: Hold): void {
    this.spend(hold, 0)
    this.#holders.retire(hold.holder)
  }

  waitMs(): number {
    return this.#waits.nextMs()
  }

  holderIds(): string[] {
    return this.#holders.ids()
  }

  async tick(): Promise<void> {
    await this.parked.forgetGone()
    await this.#holders.foldAndGiveBack()
    await this.#holders.endRetired()
    await this.#runHolds.write()
    await this.#holders.endDead()
  }

  giveBackIdle(): Promise<void> {
    return this.#holders.endIdle()
  }

  async flush(): Promise<void> {
    this.parked.drop(() => true)
    this.#holders.retire(this.#holders.current)
    await this.#holders
      .endRetired()
      .catch((cause: unknown) =>
        this.#log.warn(
          { cause: reasonOf(cause) },
          'shares of credits stay until other workers miss this one',
        ),
      )
    await this.#runHolds.write()
  }
}

/** The time for which cells are parked. The more cells wait, the longer each waits: they would otherwise do nothing but ask. */
class WaitingTimes {
  #waiting = 0
  #since = performance.now()

  note(): void {
    this.#waiting += 1
  }

  nextMs(): number {
    const now = performance.now()
    if (now - this.#since > MAX_WAIT_MS) [this.#waiting, this.#since] = [0, now]
    return Math.min(MAX_WAIT_MS, MIN_WAIT_MS + this.#waiting) * (0.75 + Math.random() / 2)
  }
}

const newHold = (asked: Asked, { org_id, run_id }: RunFacts): Hold => ({
  ...asked,
  orgId: org_id,
  runId: run_id,
  millis: 0,
})
