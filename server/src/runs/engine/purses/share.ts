import { HoldEnds } from './hold-ends.ts'

/** What a holder has of one purse, in thousandths. Settled charges are off it, whether they are folded or not. */
export class Share {
  granted = 0
  held = 0
  /** Held since the last look, and between the two before. */
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

  /** What is not needed at the rate of late. */
  takeExcess(): number {
    const excess = this.free - Math.max(this.used, this.usedBefore)
    this.usedBefore = this.used
    this.used = 0
    if (excess <= 0) return 0
    this.granted -= excess
    return excess
  }
}

/** The shares of a holder in one organisation. Statements about them go one after the other. */
export class OrgShares {
  readonly byPurse = new Map<string, Share>()
  readonly ends = new HoldEnds()
  /** Holds, and calls that ask for one. */
  uses = 0
  /** Since it was last asked how long they have been idle. */
  #wasUsed = true
  #usedAt = 0
  hasCharges = false
  readonly orgId: string
  #turn: Promise<unknown> = Promise.resolve()

  constructor(orgId: string) {
    this.orgId = orgId
  }

  /** Something was held or spent. Nobody looks at the clock for it: that is done for many cells. */
  noteUse(): void {
    this.#wasUsed = true
  }

  /** Milliseconds without a use, from the first look after the last one on. */
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

  /** Sets so much aside in each of the purses, and in the balance. */
  hold(purseIds: readonly string[], millis: number): void {
    this.#shareOf(this.orgId).hold(millis)
    for (const id of purseIds) this.#shareOf(id).hold(millis)
  }

  /** So much is set aside no more, of which so much was spent. */
  release(purseIds: readonly string[], heldMillis: number, spentMillis: number): void {
    this.#shareOf(this.orgId).release(heldMillis, spentMillis)
    for (const id of purseIds) this.#shareOf(id).release(heldMillis, spentMillis)
    this.ends.note()
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
 * Whose shares they are: a process, until a statement about them was cut off and nobody knows what came of it. Then the
 * process goes on as another holder, and this one's shares are ended as if it had died, when its last hold is.
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

/** What a flight has set aside for its cells that are not settled yet. */
export type Hold = {
  readonly holder: Holder
  readonly shares: OrgShares
  readonly orgId: string
  readonly runId: string
  /** All but the balance. */
  readonly purseIds: readonly string[]
  millis: number
}
