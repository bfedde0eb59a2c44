import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Store } from '../../../database/connection/db.ts'
import { markFault } from '../../../database/connection/faults.ts'
import { reasonOf } from '../../../lib/errors.ts'
import { isOn } from '../../../lib/fast-parts.ts'
import { newId } from '../../../lib/ids.ts'
import type { Log } from '../../../lib/log.ts'
import { endShares, foldCharges, forgetHolder, listDeadHolders } from '../../../money/store/purses/fold.ts'
import {
  type Answer,
  giveBackCredits,
  type Need,
  type Refusal,
  takeCredits,
} from '../../../money/store/purses/take.ts'
import type { RunFacts } from '../flights/flight.ts'
import { createParkedHolds, type ParkedHolds } from './parked-holds.ts'
import { createRunHolds } from './run-holds.ts'
import { createRunPurses } from './run-purses.ts'
import { type Hold, Holder, type OrgShares } from './share.ts'

/** The time without a hold after which the shares in an organisation are given back. */
const IDLE_MS = 200
/**
 * The number of cells at once that shows that a run has just begun: more follow before its need per second is known.
 */
const CROWD = { cells: 8, ahead: 8 }
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

/**
 * Thrown if the holder of the shares was taken for dead. The row is claimed again, as after an outage of the database.
 */
class SharesLost extends Error {
  override name = 'SharesLost'
  /** The code of a transaction that must be tried again. */
  readonly code = '40001'
}

export const sharesLost = (): SharesLost =>
  markFault(new SharesLost('the shares of this process were ended by another'))

type Waiter = {
  facts: RunFacts
  rowId: string
  need: Need
  resolve: (answer: Answer) => void
  reject: (cause: unknown) => void
}

/** Sorts waiting cells: runs in the order in which they came, and the cells of a run in the order of its rows. */
function inOrder(waiters: readonly Waiter[]): Waiter[] {
  const runs = [...new Set(waiters.map(({ facts }) => facts.run_id))]
  const place = new Map(runs.map((run, n) => [run, n]))
  const placeOf = ({ facts }: Waiter) => place.get(facts.run_id) ?? 0
  return waiters.toSorted((one, other) => placeOf(one) - placeOf(other) || (one.rowId < other.rowId ? -1 : 1))
}

const sumOf = (waiters: readonly Waiter[]): number => waiters.reduce((sum, { need }) => sum + need.more, 0)

export function createPurseKeeper(store: Store, log: Log, inPlaceMs = IN_PLACE_MS): PurseKeeper {
  const db = store.system
  let current = new Holder(`purse-${newId()}`)
  const holders = new Set([current])
  const queues = new Map<string, Waiter[]>()
  const runHolds = createRunHolds(db)
  const parked = createParkedHolds(db, (hold) => spend(hold, 0))
  let waiting = 0
  let waitedAt = performance.now()

  const runPurses = createRunPurses(db)

  function retire(holder: Holder): void {
    holder.isRetired = true
    parked.drop((hold) => hold.holder === holder)
    if (holder !== current) return
    current = new Holder(`purse-${newId()}`)
    holders.add(current)
  }

  function reserve(hold: Hold, more: number): void {
    hold.shares.hold(hold.purseIds, more)
    hold.millis += more
    runHolds.add(hold, more)
  }

  /**
   * Asks the database for credits. Cells that ask at the same time for the same purses of an organisation share a
   * statement.
   */
  function ask(
    holder: Holder,
    purseIds: readonly string[],
    asking: Pick<Waiter, 'facts' | 'rowId' | 'need'>,
    take: () => void,
  ): Promise<Answer> {
    const { facts } = asking
    const key = [holder.id, facts.org_id, ...purseIds].join(' ')
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const queue = queues.get(key) ?? []
    const shares = holder.sharesIn(facts.org_id)
    queue.push({
      ...asking,
      reject,
      resolve(answer) {
        if (answer === 'held') take()
        resolve(answer)
      },
    })
    if (queue.length === 1) {
      queues.set(key, queue)
      const taking = shares.inTurn(async () => {
        // Rows that begin together ask together.
        await nextTurn()
        queues.delete(key)
        await takeFor(holder, shares, purseIds, inOrder(queue))
      })
      taking.catch((cause: unknown) => {
        queues.delete(key)
        for (const waiter of queue) waiter.reject(cause)
      })
    }
    return promise
  }

  async function takeFor(
    holder: Holder,
    shares: OrgShares,
    purseIds: readonly string[],
    waiters: Waiter[],
  ): Promise<void> {
    const rest = waiters.filter(({ need, resolve }) => {
      if (!shares.covers(purseIds, need.more)) return true
      resolve('held')
      return false
    })
    if (rest.length === 0) return
    const { orgId } = shares
    const sharesKnown = [orgId, ...purseIds].filter((id) => (shares.byPurse.get(id)?.granted ?? 0) > 0)
    const ahead = rest.length < CROWD.cells ? 0 : CROWD.ahead * sumOf(rest)
    const extraMillis = isOn('leases-ahead')
      ? Math.min(...shares.of(purseIds).map(({ used, usedBefore }) => Math.max(used, usedBefore, ahead)))
      : 0
    const taken = await db
      .transaction()
      .execute((trx) =>
        takeCredits(trx, {
          orgId,
          purseIds,
          holder: holder.id,
          sharesKnown,
          needs: rest.map(({ need }) => need),
          extraMillis,
        }),
      )
      .catch((cause: unknown) => {
        retire(holder)
        throw cause
      })
    if (taken.kind === 'lost') {
      retire(holder)
      throw sharesLost()
    }
    for (const share of shares.of(purseIds)) share.granted += taken.grantedMillis
    for (const [n, waiter] of rest.entries()) {
      const answer = taken.answers[n]
      if (answer !== undefined) waiter.resolve(answer)
    }
  }

  function spend(hold: Hold, millis: number): void {
    const { holder, shares, purseIds } = hold
    shares.release(purseIds, hold.millis, millis)
    if (millis > 0) shares.hasCharges = true
    runHolds.add(hold, -hold.millis)
    shares.uses -= 1
    shares.noteUse()
    holder.holds -= 1
    hold.millis = 0
  }

  async function endOrg(holder: Holder, shares: OrgShares): Promise<void> {
    if (shares.uses > 0) return
    const ending = [...shares.byPurse]
    shares.byPurse.clear()
    shares.hasCharges = false
    if (ending.length === 0) return
    await endShares(db, shares.orgId, holder.id).catch((cause: unknown) => {
      // They are ended once more, with the holder.
      retire(holder)
      for (const [id, share] of ending) shares.byPurse.set(id, share)
      throw cause
    })
  }

  async function endRetired(): Promise<void> {
    for (const holder of holders) {
      if (!holder.isRetired || holder.holds > 0) continue
      for (const shares of holder.orgs.values()) await shares.inTurn(() => endOrg(holder, shares))
      if ([...holder.orgs.values()].some(({ uses, byPurse }) => uses > 0 || byPurse.size > 0)) continue
      holders.delete(holder)
      await forgetHolder(db, holder.id)
    }
  }

  const newHold = (
    holder: Holder,
    shares: OrgShares,
    { org_id, run_id }: RunFacts,
    purseIds: readonly string[],
  ): Hold => ({
    holder,
    shares,
    orgId: org_id,
    runId: run_id,
    purseIds,
    millis: 0,
  })

  /** Reserves credits for which the database is asked first. */
  async function holdLater(facts: RunFacts, held: Hold | null, need: Need, rowId: string): Promise<Held> {
    const holder = held?.holder ?? current
    const shares = held?.shares ?? holder.sharesIn(facts.org_id)
    shares.uses += 1
    holder.holds += 1
    let isKept = false
    try {
      const purseIds = held?.purseIds ?? runPurses.known(facts) ?? (await runPurses.read(facts))
      const hold = held ?? newHold(holder, shares, facts, purseIds)
      for (;;) {
        if (shares.covers(purseIds, need.more)) {
          reserve(hold, need.more)
          break
        }
        const { count } = shares.ends
        const answer = await ask(holder, purseIds, { facts, rowId, need }, () => reserve(hold, need.more))
        if (answer === 'held') break
        if (answer.isFinal) return { refusal: answer }
        // Two cells that both hold credits could wait for each other.
        if (held !== null || !(await shares.ends.next(count, rowId, inPlaceMs))) {
          waiting += 1
          return { refusal: answer }
        }
      }
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

  function holdAtOnce(facts: RunFacts, held: Hold | null, more: number): Hold | null {
    const purseIds = held?.purseIds ?? runPurses.known(facts)
    const holder = held?.holder ?? current
    const shares = held?.shares ?? holder.sharesIn(facts.org_id)
    if (purseIds === null || !shares.covers(purseIds, more)) return null
    const hold = held ?? newHold(holder, shares, facts, purseIds)
    reserve(hold, more)
    if (held === null) {
      shares.uses += 1
      holder.holds += 1
    }
    return hold
  }

  return {
    holdAtOnce,
    hold(facts, held, need, rowId = '') {
      const hold = holdAtOnce(facts, held, need.more)
      return hold === null ? holdLater(facts, held, need, rowId) : { hold }
    },
    spend,
    doubt(hold) {
      spend(hold, 0)
      retire(hold.holder)
    },
    parked,
    waitMs() {
      // The more cells wait, the longer each waits: they would otherwise do nothing but ask.
      const now = performance.now()
      if (now - waitedAt > MAX_WAIT_MS) [waiting, waitedAt] = [0, now]
      return Math.min(MAX_WAIT_MS, MIN_WAIT_MS + waiting) * (0.75 + Math.random() / 2)
    },
    holderIds: () => [...holders].map(({ id }) => id),
    async tick() {
      await parked.forgetGone()
      for (const holder of holders) {
        for (const shares of holder.orgs.values()) {
          await shares.inTurn(async () => {
            if (shares.hasCharges) await foldCharges(db, shares.orgId, holder.id)
            shares.hasCharges = false
            await giveBackExcess(holder, shares)
          })
        }
      }
      await endRetired()
      await runHolds.write()
      for (const dead of await listDeadHolders(db)) {
        if (![...holders].some(({ id }) => id === dead.holder)) await endShares(db, dead.org_id, dead.holder)
      }
    },
    async giveBackIdle() {
      const now = performance.now()
      for (const holder of holders) {
        for (const [orgId, shares] of holder.orgs) {
          if (shares.idleMs(now) < IDLE_MS) continue
          await shares.inTurn(() => endOrg(holder, shares))
          if (shares.uses === 0 && shares.byPurse.size === 0) holder.orgs.delete(orgId)
        }
      }
    },
    async flush() {
      parked.drop(() => true)
      retire(current)
      await endRetired().catch((cause: unknown) =>
        log.warn({ cause: reasonOf(cause) }, 'shares of credits stay until other workers miss this one'),
      )
      await runHolds.write()
    },
  }

  async function giveBackExcess(holder: Holder, shares: OrgShares): Promise<void> {
    const excess = new Map<string, number>()
    for (const [id, share] of shares.byPurse) {
      const isUnused = share.used + share.usedBefore === 0
      const millis = share.takeExcess()
      if (millis > 0 || (isUnused && share.granted === 0)) excess.set(id, millis)
      if (isUnused && share.granted === 0) shares.byPurse.delete(id)
    }
    if (excess.size === 0) return
    await db
      .transaction()
      .execute((trx) => giveBackCredits(trx, shares.orgId, holder.id, excess))
      .catch((cause: unknown) => {
        retire(holder)
        throw cause
      })
  }
}
