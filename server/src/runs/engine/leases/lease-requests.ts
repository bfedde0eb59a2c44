import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db } from '../../../database/connection/db.ts'
import { markFault } from '../../../database/connection/faults.ts'
import { isOn } from '../../../lib/fast-parts.ts'
import { type Answer, type Need, leaseCredits } from '../../../money/store/limits/leasing.ts'
import type { RunFacts } from '../flights/flight.ts'
import type { Holders } from './holders.ts'
import type { Holder, OrgLeases } from './lease.ts'

/**
 * The number of cells at once that shows that a run has just begun: more follow before its need per second is known.
 */
const CROWD = { cells: 8, ahead: 8 }

/**
 * Thrown if the holder of the leases was taken for dead. The row is claimed again, as after an outage of the database.
 */
class LeasesLost extends Error {
  override name = 'LeasesLost'
  /** The code of a transaction that must be tried again. */
  readonly code = '40001'
}

export const leasesLost = (): LeasesLost =>
  markFault(new LeasesLost('the leases of this process were ended by another'))

export type Asking = { facts: RunFacts; rowId: string; need: Need }
/** The leases that cells ask to be added to. */
export type Asked = { holder: Holder; leases: OrgLeases; limitIds: readonly string[] }

type Waiter = Asking & { resolve: (answer: Answer) => void; reject: (cause: unknown) => void }

/** Sorts waiting cells: runs in the order in which they came, and the cells of a run in the order of its rows. */
function inOrder(waiters: readonly Waiter[]): Waiter[] {
  const runs = [...new Set(waiters.map(({ facts }) => facts.run_id))]
  const place = new Map(runs.map((run, n) => [run, n]))
  const placeOf = ({ facts }: Waiter) => place.get(facts.run_id) ?? 0
  return waiters.toSorted((one, other) => placeOf(one) - placeOf(other) || (one.rowId < other.rowId ? -1 : 1))
}

const sumOf = (waiters: readonly Waiter[]): number => waiters.reduce((sum, { need }) => sum + need.more, 0)

/**
 * The questions for credits of this process. Cells that ask at the same time for the same limits share a statement. What
 * is leased ahead of the cells that ask (`leases-ahead`) doubles P18 and saves 41% of the processor time of a cell, won 7
 * of 7 rounds in turns (2 x86_64 cores beside others, 2026-11-19).
 */
export class LeaseRequests {
  readonly #db: Db
  readonly #holders: Holders
  readonly #queues = new Map<string, Waiter[]>()

  constructor(db: Db, holders: Holders) {
    this.#db = db
    this.#holders = holders
  }

  /** Asks the database for credits. Calls `grant` if they were granted, before another cell can have them. */
  ask(asked: Asked, asking: Asking, grant: () => void): Promise<Answer> {
    const { holder, limitIds } = asked
    const key = [holder.id, asking.facts.org_id, ...limitIds].join(' ')
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const waiter: Waiter = {
      ...asking,
      reject,
      resolve(answer) {
        if (answer === 'held') grant()
        resolve(answer)
      },
    }
    const queue = this.#queues.get(key)
    if (queue === undefined) this.#begin(key, asked, [waiter])
    else queue.push(waiter)
    return promise
  }

  #begin(key: string, asked: Asked, queue: Waiter[]): void {
    this.#queues.set(key, queue)
    const leasing = asked.leases.inTurn(async () => {
      // Rows that begin together ask together.
      await nextTurn()
      this.#queues.delete(key)
      await this.#leaseFor(asked, inOrder(queue))
    })
    leasing.catch((cause: unknown) => {
      this.#queues.delete(key)
      for (const waiter of queue) waiter.reject(cause)
    })
  }

  async #leaseFor({ holder, leases, limitIds }: Asked, waiters: Waiter[]): Promise<void> {
    const rest = waiters.filter(({ need, resolve }) => {
      if (!leases.covers(limitIds, need.more)) return true
      resolve('held')
      return false
    })
    if (rest.length === 0) return
    const { orgId } = leases
    const ahead = rest.length < CROWD.cells ? 0 : CROWD.ahead * sumOf(rest)
    const request = {
      orgId,
      limitIds,
      holder: holder.id,
      leasesKnown: leases.granted(limitIds),
      needs: rest.map(({ need }) => need),
      extraMillis: isOn('leases-ahead')
        ? Math.min(...leases.of(limitIds).map(({ used, usedBefore }) => Math.max(used, usedBefore, ahead)))
        : 0,
    }
    const leasing = this.#db.transaction().execute((trx) => leaseCredits(trx, request))
    const leased = await this.#holders.retireIfItFails(holder, leasing)
    if (leased.kind === 'lost') {
      this.#holders.retire(holder)
      throw leasesLost()
    }
    for (const lease of leases.of(limitIds)) lease.granted += leased.grantedMillis
    for (const [n, waiter] of rest.entries()) {
      const answer = leased.answers[n]
      if (answer !== undefined) waiter.resolve(answer)
    }
  }
}
