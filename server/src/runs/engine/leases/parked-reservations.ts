import { sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'
import type { Reservation } from './lease.ts'

type ParkedFlight = { orgId: string; runId: string; rowId: string }

const keyOf = ({ orgId, runId, rowId }: ParkedFlight) => `${orgId} ${runId} ${rowId}`

/**
 * The reservations of cells whose flight is parked: a provider may have been asked already, and is paid when the cell goes on.
 * They are kept by the process that parked the flight, as long as the flight exists and no other process has claimed
 * it.
 */
export class ParkedReservations {
  readonly #db: Db
  readonly #release: (reservation: Reservation) => void
  readonly #kept = new Map<string, { flight: ParkedFlight; reservation: Reservation }>()

  constructor(db: Db, release: (reservation: Reservation) => void) {
    this.#db = db
    this.#release = release
  }

  keep(flight: ParkedFlight, reservation: Reservation): void {
    const before = this.take(flight)
    if (before !== null) this.#release(before)
    this.#kept.set(keyOf(flight), { flight, reservation })
  }

  /** Returns the reservation of a flight that was claimed, and removes it from here. */
  take(flight: ParkedFlight): Reservation | null {
    if (this.#kept.size === 0) return null
    const key = keyOf(flight)
    const found = this.#kept.get(key)
    this.#kept.delete(key)
    return found?.reservation ?? null
  }

  /** Releases the reservations of flights that no longer exist, or that another process has claimed. */
  async forgetGone(): Promise<void> {
    if (this.#kept.size === 0) return
    const looked = [...this.#kept.values()]
    const column = (name: keyof ParkedFlight) => looked.map(({ flight }) => flight[name])
    const { rows } = await sql<{ n: number }>`
      select i.n::int as n from unnest(${column('orgId')}::uuid[], ${column('runId')}::uuid[], ${column('rowId')}::uuid[])
        with ordinality as i (o, run, r, n)
      join flights f on f.org_id = i.o and f.row_id = i.r and f.run_id = i.run and f.status = 'queued'`.execute(
      this.#db,
    )
    const there = new Set(rows.map(({ n }) => looked[n - 1]?.reservation))
    const gone = new Set(looked.flatMap(({ reservation }) => (there.has(reservation) ? [] : [reservation])))
    this.drop((reservation) => gone.has(reservation))
  }

  /** Releases the reservations that `isDropped` names. */
  drop(isDropped: (reservation: Reservation) => boolean): void {
    for (const [key, { reservation }] of this.#kept) {
      if (!isDropped(reservation)) continue
      this.#kept.delete(key)
      this.#release(reservation)
    }
  }
}
