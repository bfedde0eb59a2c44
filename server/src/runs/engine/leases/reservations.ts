import type { Store } from '../../../database/connection/db.ts'
import { reasonOf } from '../../../lib/errors.ts'
import type { Log } from '../../../lib/log.ts'
import type { Need, Refusal } from '../../../money/store/limits/leasing.ts'
import type { RunFacts } from '../flights/flight.ts'
import { Holders } from './holders.ts'
import { type Asked, type Asking, LeaseRequests } from './lease-requests.ts'
import type { Reservation } from './lease.ts'
import { ParkedReservations } from './parked-reservations.ts'
import { createRunLimits, type RunLimits } from './run-limits.ts'
import { RunReservations } from './run-reservations.ts'

const MIN_WAIT_MS = 300
/** The time for which a cell waits in place for the end of another cell's reservation. */
const IN_PLACE_MS = 1000
const MAX_WAIT_MS = 5000

export type Held = { reservation: Reservation } | { refusal: Refusal }

/**
 * Reserves credits for cells about to run, in memory, within the leases that this process has of every limit: the
 * balance, the cap of the run, budgets. Thousands of cells cost a few statements a second, and no limit is locked once
 * per cell.
 */
export class Reservations {
  /** The reservations of parked flights, as long as this process may go on with them. */
  readonly parked: ParkedReservations
  readonly #holders: Holders
  readonly #leaseRequests: LeaseRequests
  readonly #runReservations: RunReservations
  readonly #runLimits: RunLimits
  readonly #log: Log
  readonly #inPlaceMs: number
  readonly #waits = new WaitingTimes()

  constructor({ system: db }: Store, log: Log, inPlaceMs = IN_PLACE_MS) {
    this.#log = log
    this.#inPlaceMs = inPlaceMs
    this.#holders = new Holders(db, (holder) =>
      this.parked.drop((reservation) => reservation.holder === holder),
    )
    this.#leaseRequests = new LeaseRequests(db, this.#holders)
    this.#runReservations = new RunReservations(db)
    this.#runLimits = createRunLimits(db)
    this.parked = new ParkedReservations(db, (reservation) => this.spend(reservation, 0))
  }

  /**
   * Reserves `more`, so that the cell of the row has `total`: at once if this process has as much. If other cells hold
   * it, a cell that has nothing yet waits a moment for the end of their reservations. Rows that wait at the same time are
   * served in their order (D93).
   */
  async reserve(facts: RunFacts, held: Reservation | null, need: Need, rowId = ''): Promise<Held> {
    const holder = held?.holder ?? this.#holders.current
    const leases = held?.leases ?? holder.leasesIn(facts.org_id)
    const known = held?.limitIds ?? this.#runLimits.known(facts)
    if (held === null) {
      leases.uses += 1
      holder.reservations += 1
    }
    if (known !== null && leases.covers(known, need.more)) {
      const reservation = held ?? newReservation({ holder, leases, limitIds: known }, facts)
      this.#add(reservation, need.more)
      return { reservation }
    }
    let isKept = held !== null
    try {
      const limitIds = known ?? (await this.#runLimits.read(facts))
      const reservation = held ?? newReservation({ holder, leases, limitIds }, facts)
      const refusal = await this.#askUntilReserved(reservation, { facts, rowId, need }, held === null)
      if (refusal !== null) return { refusal }
      isKept = true
      return { reservation }
    } finally {
      if (!isKept) {
        leases.uses -= 1
        holder.reservations -= 1
      }
      leases.noteUse()
    }
  }

  #add(reservation: Reservation, more: number): void {
    reservation.leases.reserve(reservation.limitIds, more)
    reservation.millis += more
    this.#runReservations.add(reservation, more)
  }

  /** Reserves credits as soon as they are there. Returns the refusal if they do not come in time. */
  async #askUntilReserved(
    reservation: Reservation,
    asking: Asking,
    mayWait: boolean,
  ): Promise<Refusal | null> {
    const { leases, limitIds } = reservation
    const { more } = asking.need
    const reserve = () => this.#add(reservation, more)
    for (;;) {
      if (leases.covers(limitIds, more)) {
        reserve()
        return null
      }
      const { count } = leases.ends
      const answer = await this.#leaseRequests.ask(reservation, asking, reserve)
      if (answer === 'held') return null
      if (answer.isFinal) return answer
      // Two cells that both hold credits could wait for each other.
      if (!mayWait || !(await leases.ends.next(count, asking.rowId, this.#inPlaceMs))) {
        this.#waits.note()
        return answer
      }
    }
  }

  /** Ends a reservation, of which `millis` were charged. */
  spend(reservation: Reservation, millis: number): void {
    const { holder, leases, limitIds } = reservation
    leases.release(limitIds, reservation.millis, millis)
    if (millis > 0) leases.hasCharges = true
    this.#runReservations.add(reservation, -reservation.millis)
    leases.uses -= 1
    leases.noteUse()
    holder.reservations -= 1
    reservation.millis = 0
  }

  /** Ends a reservation of which it is unknown whether it was charged. */
  doubt(reservation: Reservation): void {
    this.spend(reservation, 0)
    this.#holders.retire(reservation.holder)
  }

  /** Returns how long a cell stays parked while other cells hold the credits that it needs. */
  waitMs(): number {
    return this.#waits.nextMs()
  }

  /** Lists the ids under which this process has leases, for its heartbeat. */
  holderIds(): string[] {
    return this.#holders.ids()
  }

  /** Posts charges, gives back what is not needed, and ends the leases of dead holders. Call it every second. */
  async tick(): Promise<void> {
    await this.parked.forgetGone()
    await this.#holders.postAndGiveBack()
    await this.#holders.endRetired()
    await this.#runReservations.write()
    await this.#holders.endDead()
  }

  /** Gives back leases that nothing uses. Call it more often than `tick`. */
  giveBackIdle(): Promise<void> {
    return this.#holders.endIdle()
  }

  /** Ends all leases, when no row is walked any more. */
  async flush(): Promise<void> {
    this.parked.drop(() => true)
    this.#holders.retire(this.#holders.current)
    await this.#holders
      .endRetired()
      .catch((cause: unknown) =>
        this.#log.warn(
          { cause: reasonOf(cause) },
          'leases of credits stay until other workers miss this one',
        ),
      )
    await this.#runReservations.write()
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

const newReservation = (asked: Asked, { org_id, run_id }: RunFacts): Reservation => ({
  ...asked,
  orgId: org_id,
  runId: run_id,
  millis: 0,
})
