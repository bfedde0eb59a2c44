import type { Db } from '../../../database/connection/db.ts'
import { newId } from '../../../lib/ids.ts'
import { giveBackCredits } from '../../../money/store/limits/leasing.ts'
import { endLeases, postCharges, forgetHolder, listDeadHolders } from '../../../money/store/limits/posting.ts'
import { Holder, type OrgLeases } from './lease.ts'

/** The time without a reservation after which the leases in an organisation are given back. */
const IDLE_MS = 200

/** The holders of this process: the current one, and retired ones whose leases have not all ended. */
export class Holders {
  readonly #db: Db
  readonly #onRetired: (holder: Holder) => void
  #current = new Holder(`lease-${newId()}`)
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

  /** Retires a holder whose leases are in doubt. The process goes on as another holder. */
  retire(holder: Holder): void {
    holder.isRetired = true
    this.#onRetired(holder)
    if (holder !== this.#current) return
    this.#current = new Holder(`lease-${newId()}`)
    this.#all.add(this.#current)
  }

  /** Runs a statement about leases. If its result is unknown, the holder is retired. */
  async retireIfItFails<Result>(holder: Holder, statement: Promise<Result>): Promise<Result> {
    try {
      return await statement
    } catch (cause) {
      this.retire(holder)
      throw cause
    }
  }

  /** Posts the charges of all holders, and gives back what they do not need at the recent rate of use. */
  async postAndGiveBack(): Promise<void> {
    for (const holder of this.#all) {
      for (const leases of holder.orgs.values()) {
        await leases.inTurn(async () => {
          if (leases.hasCharges) await postCharges(this.#db, leases.orgId, holder.id)
          leases.hasCharges = false
          await this.#giveBackExcess(holder, leases)
        })
      }
    }
  }

  async #giveBackExcess(holder: Holder, leases: OrgLeases): Promise<void> {
    const excess = leases.releaseExcess()
    if (excess.size === 0) return
    const giving = this.#db
      .transaction()
      .execute((trx) => giveBackCredits(trx, leases.orgId, holder.id, excess))
    await this.retireIfItFails(holder, giving)
  }

  /** Ends the leases in organisations where nothing was held for a while. */
  async endIdle(): Promise<void> {
    const now = performance.now()
    for (const holder of this.#all) {
      for (const [orgId, leases] of holder.orgs) {
        if (leases.idleMs(now) < IDLE_MS) continue
        await leases.inTurn(() => this.#endOrg(holder, leases))
        if (leases.hasEnded()) holder.orgs.delete(orgId)
      }
    }
  }

  /** Ends the leases of retired holders whose reservations have all ended. */
  async endRetired(): Promise<void> {
    for (const holder of this.#all) {
      if (!holder.isRetired || holder.reservations > 0) continue
      for (const leases of holder.orgs.values()) await leases.inTurn(() => this.#endOrg(holder, leases))
      if (![...holder.orgs.values()].every((leases) => leases.hasEnded())) continue
      this.#all.delete(holder)
      await forgetHolder(this.#db, holder.id)
    }
  }

  /** Ends the leases of processes that have died. */
  async endDead(): Promise<void> {
    const ours = new Set(this.ids())
    for (const dead of await listDeadHolders(this.#db)) {
      if (!ours.has(dead.holder)) await endLeases(this.#db, dead.org_id, dead.holder)
    }
  }

  async #endOrg(holder: Holder, leases: OrgLeases): Promise<void> {
    if (leases.uses > 0) return
    const ending = [...leases.byLimit]
    leases.byLimit.clear()
    leases.hasCharges = false
    if (ending.length === 0) return
    try {
      await this.retireIfItFails(holder, endLeases(this.#db, leases.orgId, holder.id))
    } catch (cause) {
      // They are ended once more, with the holder.
      for (const [id, lease] of ending) leases.byLimit.set(id, lease)
      throw cause
    }
  }
}
