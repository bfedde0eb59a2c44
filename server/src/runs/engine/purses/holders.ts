import type { Db } from '../../../database/connection/db.ts'
import { newId } from '../../../lib/ids.ts'
import { endShares, foldCharges, forgetHolder, listDeadHolders } from '../../../money/store/purses/fold.ts'
import { giveBackCredits } from '../../../money/store/purses/take.ts'
import { Holder, type OrgShares } from './share.ts'

/** The time without a hold after which the shares in an organisation are given back. */
const IDLE_MS = 200

/** The holders of this process: the current one, and retired ones whose shares have not all ended. */
export class Holders {
  readonly #db: Db
  readonly #onRetired: (holder: Holder) => void
  #current = new Holder(`purse-${newId()}`)
  readonly #all = new Set([this.#current])

  constructor(db: Db, onRetired: (holder: Holder) => void) {
    this.#db = db
    this.#onRetired = onRetired
  }

  get current(): Holder {
    return this.#current
  }

  ids(): string[] {
    return [...this.#all].map(({ id }) => id)
  }

  /** Retires a holder whose shares are in doubt. The process goes on as another holder. */
  retire(holder: Holder): void {
    holder.isRetired = true
    this.#onRetired(holder)
    if (holder !== this.#current) return
    this.#current = new Holder(`purse-${newId()}`)
    this.#all.add(this.#current)
  }

  /** Runs a statement about shares. If its result is unknown, the holder is retired. */
  async retireIfItFails<Result>(holder: Holder, statement: Promise<Result>): Promise<Result> {
    try {
      return await statement
    } catch (cause) {
      this.retire(holder)
      throw cause
    }
  }

  /** Folds the charges of all holders, and gives back what they do not need at the recent rate of use. */
  async foldAndGiveBack(): Promise<void> {
    for (const holder of this.#all) {
      for (const shares of holder.orgs.values()) {
        await shares.inTurn(async () => {
          if (shares.hasCharges) await foldCharges(this.#db, shares.orgId, holder.id)
          shares.hasCharges = false
          await this.#giveBackExcess(holder, shares)
        })
      }
    }
  }

  async #giveBackExcess(holder: Holder, shares: OrgShares): Promise<void> {
    const excess = shares.takeExcess()
    if (excess.size === 0) return
    const giving = this.#db
      .transaction()
      .execute((trx) => giveBackCredits(trx, shares.orgId, holder.id, excess))
    await this.retireIfItFails(holder, giving)
  }

  /** Ends the shares in organisations where nothing was held for a while. */
  async endIdle(): Promise<void> {
    const now = performance.now()
    for (const holder of this.#all) {
      for (const [orgId, shares] of holder.orgs) {
        if (shares.idleMs(now) < IDLE_MS) continue
        await shares.inTurn(() => this.#endOrg(holder, shares))
        if (shares.hasEnded()) holder.orgs.delete(orgId)
      }
    }
  }

  /** Ends the shares of retired holders whose holds have all ended. */
  async endRetired(): Promise<void> {
    for (const holder of this.#all) {
      if (!holder.isRetired || holder.holds > 0) continue
      for (const shares of holder.orgs.values()) await shares.inTurn(() => this.#endOrg(holder, shares))
      if (![...holder.orgs.values()].every((shares) => shares.hasEnded())) continue
      this.#all.delete(holder)
      await forgetHolder(this.#db, holder.id)
    }
  }

  /** Ends the shares of processes that have died. */
  async endDead(): Promise<void> {
    const ours = new Set(this.ids())
    for (const dead of await listDeadHolders(this.#db)) {
      if (!ours.has(dead.holder)) await endShares(this.#db, dead.org_id, dead.holder)
    }
  }

  async #endOrg(holder: Holder, shares: OrgShares): Promise<void> {
    if (shares.uses > 0) return
    const ending = [...shares.byPurse]
    shares.byPurse.clear()
    shares.hasCharges = false
    if (ending.length === 0) return
    try {
      await this.retireIfItFails(holder, endShares(this.#db, shares.orgId, holder.id))
    } catch (cause) {
      // They are ended once more, with the holder.
      for (const [id, share] of ending) shares.byPurse.set(id, share)
      throw cause
    }
  }
}
