import { ReservationEnds } from './reservation-ends.ts'

/**
 * The part that a holder has of one limit, in thousandths. Settled charges are already deducted, whether they are
 * posted or not.
 */
export class Lease {
  granted = 0
  held = 0
  /** The amount held since the last look, and between the two looks before. */
  used = 0
  usedBefore = 0

  get free(): number {
    return this.granted - this.held
  }

  reserve(millis: number): void {
    this.held += millis
    this.used += millis
  }

  release(heldMillis: number, spentMillis: number): void {
    this.held -= heldMillis
    this.granted -= spentMillis
  }

  /** Takes what is not needed at the recent rate of use. */
  releaseExcess(): number {
    const excess = this.free - Math.max(this.used, this.usedBefore)
    this.usedBefore = this.used
    this.used = 0
    if (excess <= 0) return 0
    this.granted -= excess
    return excess
  }
}

/** The leases of a holder in one organisation. Statements about them run one after the other. */
export class OrgLeases {
  readonly byLimit = new Map<string, Lease>()
  readonly ends = new ReservationEnds()
  /** The number of reservations, and of calls that ask for one. */
  uses = 0
  /** Set if the leases were used since the last call of `idleMs`. */
  #wasUsed = true
  #usedAt = 0
  hasCharges = false
  readonly orgId: string
  #turn: Promise<unknown> = Promise.resolve()

  constructor(orgId: string) {
    this.orgId = orgId
  }

  /** Notes that something was held or spent. It does not read the clock, because it is called for every cell. */
  noteUse(): void {
    this.#wasUsed = true
  }

  /** Returns the milliseconds without a use, counted from the first call after the last use. */
  idleMs(now: number): number {
    if (this.uses > 0 || this.#wasUsed) {
      this.#wasUsed = false
      this.#usedAt = now
    }
    return now - this.#usedAt
  }

  inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#turn.then(work, work)
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  covers(limitIds: readonly string[], millis: number): boolean {
    return this.#has(this.orgId, millis) && limitIds.every((id) => this.#has(id, millis))
  }

  #has(id: string, millis: number): boolean {
    const lease = this.byLimit.get(id)
    return lease !== undefined && lease.free >= millis
  }

  /** Reserves the amount in each of the limits, and in the balance. */
  reserve(limitIds: readonly string[], millis: number): void {
    this.#leaseOf(this.orgId).reserve(millis)
    for (const id of limitIds) this.#leaseOf(id).reserve(millis)
  }

  /** Ends a reservation, of which `spentMillis` were spent. */
  release(limitIds: readonly string[], heldMillis: number, spentMillis: number): void {
    this.#leaseOf(this.orgId).release(heldMillis, spentMillis)
    for (const id of limitIds) this.#leaseOf(id).release(heldMillis, spentMillis)
    this.ends.note()
  }

  /** Lists the limits of which something was granted; the organisation's id stands for its balance. */
  granted(limitIds: readonly string[]): string[] {
    return [this.orgId, ...limitIds].filter((id) => (this.byLimit.get(id)?.granted ?? 0) > 0)
  }

  /** Takes what is not needed at the recent rate of use, by limit. A lease that was neither used nor granted is ended. */
  releaseExcess(): Map<string, number> {
    const excess = new Map<string, number>()
    for (const [id, lease] of this.byLimit) {
      const isUnused = lease.used + lease.usedBefore === 0
      const millis = lease.releaseExcess()
      const isEmpty = isUnused && lease.granted === 0
      if (millis > 0 || isEmpty) excess.set(id, millis)
      if (isEmpty) this.byLimit.delete(id)
    }
    return excess
  }

  /** Returns whether nothing is held and all leases have ended. */
  hasEnded(): boolean {
    return this.uses === 0 && this.byLimit.size === 0
  }

  of(limitIds: readonly string[]): Lease[] {
    const leases = [this.#leaseOf(this.orgId)]
    for (const id of limitIds) leases.push(this.#leaseOf(id))
    return leases
  }

  #leaseOf(id: string): Lease {
    let lease = this.byLimit.get(id)
    if (lease === undefined) this.byLimit.set(id, (lease = new Lease()))
    return lease
  }
}

/**
 * The holder of leases: a process, until a statement about them was cut off with an unknown result. Then the process
 * goes on as another holder, and the leases of this one are ended as if it had died, once its last reservation has ended.
 */
export class Holder {
  readonly orgs = new Map<string, OrgLeases>()
  isRetired = false
  reservations = 0
  readonly id: string

  constructor(id: string) {
    this.id = id
  }

  leasesIn(orgId: string): OrgLeases {
    let leases = this.orgs.get(orgId)
    if (leases === undefined) this.orgs.set(orgId, (leases = new OrgLeases(orgId)))
    return leases
  }
}

/** The credits that a flight has reserved for its cells that are not settled yet. */
export type Reservation = {
  readonly holder: Holder
  readonly leases: OrgLeases
  readonly orgId: string
  readonly runId: string
  /** All limits but the balance. */
  readonly limitIds: readonly string[]
  millis: number
}
