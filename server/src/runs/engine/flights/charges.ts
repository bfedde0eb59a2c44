import { toStorableJson } from '../../../lib/json/storable.ts'
import type { Reservation } from '../leases/lease.ts'
import type { Flight, RunFacts, SettledCell, Settlement } from './flight.ts'

/**
 * Cells that were charged for the same: action, its template, thousandths, providers that are paid, and the number of
 * cells.
 */
type Kind = [string, string | null, number, Paid[] | null, number]
type Paid = { provider: string; credits: number }

/** Charges of one run that are paid of the same leases. They become one record. */
class Charge {
  millis = 0
  /** The flights that have a charged cell: their places in the batch, from 1. */
  readonly flights: number[] = []
  /** The place among the kinds of each charged cell. Below zero if the cell is of the same row as the one before. */
  readonly kindOf: number[] = []
  readonly kinds: Kind[] = []
  readonly #places = new Map<string, number>()
  readonly facts: RunFacts
  readonly reservation: Reservation

  constructor(facts: RunFacts, reservation: Reservation) {
    this.facts = facts
    this.reservation = reservation
  }

  isOf(facts: RunFacts, reservation: Reservation): boolean {
    return (
      this.facts.run_id === facts.run_id &&
      this.reservation.holder === reservation.holder &&
      haveSame(this.reservation.limitIds, reservation.limitIds)
    )
  }

  add(flight: number, cell: SettledCell): void {
    const place = this.#placeOf(cell)
    const kind = this.kinds[place]
    if (kind !== undefined) kind[4] += 1
    const isFirst = this.flights.at(-1) !== flight
    if (isFirst) this.flights.push(flight)
    this.kindOf.push(isFirst ? place : -1 - place)
    this.millis += cell.creditsMillis
  }

  /** Returns the place of a cell's kind. */
  #placeOf({ action, actionId, creditsMillis, provenance }: SettledCell): number {
    const paid = paidAmong(provenance)
    const key = paid === null ? `${action} ${creditsMillis}` : JSON.stringify([action, creditsMillis, paid])
    let place = this.#places.get(key)
    if (place === undefined) {
      place = this.kinds.push([action, actionId ?? null, creditsMillis, paid, 0]) - 1
      this.#places.set(key, place)
    }
    return place
  }
}

function paidAmong(provenance: readonly Paid[] | undefined): Paid[] | null {
  if (provenance === undefined) return null
  const paid = provenance.filter(({ credits }) => credits > 0)
  return paid.length === 0 ? null : paid.map(({ provider, credits }) => ({ provider, credits }))
}

const haveSame = (some: readonly string[], others: readonly string[]): boolean =>
  some === others || (some.length === others.length && some.every((id, n) => id === others[n]))

/** Returns the charges of a batch. */
export function chargesOf(batch: readonly { flight: Flight; settlement: Settlement }[]): Charges {
  const charges = new Charges()
  batch.forEach(({ flight, settlement }, n) => {
    for (const cell of settlement.cells) if (cell.creditsMillis > 0) charges.add(n + 1, flight, cell)
  })
  return charges
}

class Charges {
  readonly #charges: Charge[] = []
  #latest: Charge | undefined

  isEmpty(): boolean {
    return this.#charges.length === 0
  }

  add(n: number, { facts, position: { reservation } }: Flight, cell: SettledCell): void {
    if (reservation === null)
      throw new Error(`${cell.action} of run ${facts.run_id} costs credits and holds none`)
    // Most batches are of one run, and the flights of several runs come in turns.
    if (this.#latest?.isOf(facts, reservation) !== true) this.#latest = this.#chargeOf(facts, reservation)
    this.#latest.add(n, cell)
  }

  #chargeOf(facts: RunFacts, reservation: Reservation): Charge {
    const known = this.#charges.find((charge) => charge.isOf(facts, reservation))
    if (known !== undefined) return known
    const charge = new Charge(facts, reservation)
    this.#charges.push(charge)
    return charge
  }

  /**
   * Returns by column: the leases that are paid of; the records; and the flights and kinds of all cells, of which
   * records name ranges. The flights are `null` if there is one record and all flights are in it. `details` are stored
   * with the entries of the ledger.
   */
  columns(flights: number, details?: object): Record<string, unknown> {
    const leases = new Map<string, [string, string, string]>()
    for (const { reservation } of this.#charges) {
      const { holder, orgId } = reservation
      for (const limit of [orgId, ...reservation.limitIds])
        leases.set(`${limit} ${holder.id}`, [orgId, limit, holder.id])
    }
    const column = (place: 0 | 1 | 2) => [...leases.values()].map((lease) => lease[place])
    let last = 0
    let lastRow = 0
    const records = this.#charges.map(({ facts, reservation, millis, kinds, kindOf, flights: rows }) => {
      const { run_id, workflow_id, sheet_id, member, key_id, trigger, price_version } = facts
      const f = { run_id, workflow_id, sheet_id, member, key_id, trigger, price_version, details }
      const places = {
        a: last + 1,
        z: (last += kindOf.length),
        ra: lastRow + 1,
        rz: (lastRow += rows.length),
      }
      const { orgId: o, holder, limitIds } = reservation
      return { o, h: holder.id, p: limitIds, m: millis, f, k: kinds, ...places }
    })
    const joined = (numbers: (charge: Charge) => readonly number[]) =>
      `{${this.#charges.map((charge) => numbers(charge).join(',')).join(',')}}`
    return {
      leaseOrgs: column(0),
      leaseLimits: column(1),
      leaseHolders: column(2),
      charges: details === undefined ? JSON.stringify(records) : toStorableJson(records),
      chargedFlights:
        this.#charges.length === 1 && lastRow === flights ? null : joined((charge) => charge.flights),
      chargeKinds: joined(({ kindOf }) => kindOf),
    }
  }
}
