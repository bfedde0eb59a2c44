import { HoldEnds } from './hold-ends.ts'

/**
 * The part that a holder has of one purse, in thousandths. Settled charges are already deducted, whether they are
 * folded or not.
 */
export class Share {
  granted = 0
  held = 0
  /** The amount held since the last look, and between the two looks before. */
  used = 0
  usedBefore = 0

  get free(): number {
    return this.granted - this.held
  }

  hold(millis: number): void {
    this.held += millis
    this.used += millis
  }

  release(heldMillis: number, spentMillis: number): void {
    this.held -= heldMillis
    this.granted -= spentMillis
  }

  /** Takes what is not needed at the recent rate of use. */
  takeExcess(): number {
    const excess = this.free - Math.max(this.used, this.usedBefore)
    this.usedBefore = this.used
    this.used = 0
    if (excess <= 0) return 0
    this.granted -= excess
    return excess
  }
}

/** The shares of a holder in one organisation. Statements about them run one after the other. */
export class OrgShares {
  readonly byPurse = new Map<string, Share>()
  readonly ends = new HoldEnds()
  /** The number of holds, and of calls that ask for one. */
  uses = 0
  /** Set if the shares were used since the last call of `idleMs`. */
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

  covers(purseIds: readonly string[], millis: number): boolean {
    return this.#has(this.orgId, millis) && purseIds.every((id) => this.#has(id, millis))
  }

  #has(id: string, millis: number): boolean {
    const share = this.byPurse.get(id)
    return share !== undefined && share.free >= millis
  }

  /** Reserves the amount in each of the purses, and in the balance. */
  hold(purseIds: readonly string[], millis: number): void {
    this.#shareOf(this.orgId).hold(millis)
    for (const id of purseIds) this.#shareOf(id).hold(millis)
  }

  /** Ends a reservation, of which `spentMillis` were spent. */
  release(purseIds: readonly string[], heldMillis: number, spentMillis: number): void {
    this.#shareOf(this.orgId).release(heldMillis, spentMillis)
    for (const id of purseIds) this.#shareOf(id).release(heldMillis, spentMillis)
    this.ends.note()
  }

  /** Lists the purses of which something was granted; the organisation's id stands for its balance. */
  granted(purseIds: readonly string[]): string[] {
    return [this.orgId, ...purseIds].filter((id) => (this.byPurse.get(id)?.granted ?? 0) > 0)
  }

  /** Takes what is not needed at the recent rate of use, by purse. A share that was neither used nor granted is ended. */
  takeExcess(): Map<string, number> {
    const excess = new Map<string, number>()
    for (const [id, share] of this.byPurse) {
      const isUnused = share.used + share.usedBefore === 0
      const millis = share.takeExcess()
      const isEmpty = isUnused && share.granted === 0
      if (millis > 0 || isEmpty) excess.set(id, millis)
      if (isEmpty) this.byPurse.delete(id)
    }
    return excess
  }

  /** Returns whether nothing is held and all shares have ended. */
  hasEnded(): boolean {
    return this.uses === 0 && this.byPurse.size === 0
  }

  of(purseIds: readonly string[]): Share[] {
    const shares = [this.#shareOf(this.orgId)]
    for (const id of purseIds) shares.push(this.#shareOf(id))
    return shares
  }

  #shareOf(id: string): Share {
    let share = this.byPurse.get(id)
    if (share === undefined) this.byPurse.set(id, (share = new Share()))
    return share
  }
}

/**
 * The holder of shares: a process, until a statement about them was cut off with an unknown result. Then the process
 * goes on as another holder, and the shares of this one are ended as if it had died, once its last hold has ended.
 */
export class Holder {
  readonly orgs = new Map<string, OrgShares>()
  isRetired = false
  holds = 0
  readonly id: string

  constructor(id: string) {
    this.id = id
  }

  sharesIn(orgId: string): OrgShares {
    let shares = this.orgs.get(orgId)
    if (shares === undefined) this.orgs.set(orgId, (shares = new OrgShares(orgId)))
    return shares
  }
}

/** The credits that a flight has reserved for its cells that are not settled yet. */
export type Hold = {
  readonly holder: Holder
  readonly shares: OrgShares
  readonly orgId: string
  readonly runId: string
  /** All purses but the balance. */
  readonly purseIds: readonly string[]
  millis: number
}
