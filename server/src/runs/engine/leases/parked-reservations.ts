import { sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'
import type { Reservation } from './lease.ts'

type ParkedFlight = { orgId: string; runId: string; rowId: string }

/**
 * The reservations of cells whose flight is parked: a provider may have been asked already, and is paid when the cell goes on.
 * They are kept by the process that parked the flight, as long as the flight exists and no other process has claimed
 * it.
 */
export type ParkedReservations = {
  keep(flight: ParkedFlight, reservation: Reservation): void
  /** Returns the reservation of a flight that was claimed, and removes it from here. */
  take(flight: ParkedFlight): Reservation | null
  forgetGone(): Promise<void>
  drop(which: (reservation: Reservation) => boolean): void
}

export function createParkedReservations(
  db: Db,
  release: (reservation: Reservation) => void,
): ParkedReservations {
  const kept = new Map<string, { flight: ParkedFlight; reservation: Reservation }>()
  const keyOf = ({ orgId, runId, rowId }: ParkedFlight) => `${orgId} ${runId} ${rowId}`

  function take(flight: ParkedFlight): Reservation | null {
    if (kept.size === 0) return null
    const key = keyOf(flight)
    const found = kept.get(key)
    kept.delete(key)
    return found?.reservation ?? null
  }

  return {
    take,
    keep(flight, reservation) {
      const before = take(flight)
      if (before !== null) release(before)
      kept.set(keyOf(flight), { flight, reservation })
    },
    async forgetGone() {
      if (kept.size === 0) return
      const looked = [...kept.values()]
      const column = (of: (flight: ParkedFlight) => string) => looked.map(({ flight }) => of(flight))
      const { rows } = await sql<{ n: number }>`
        select i.n::int as n from unnest(${column(({ orgId }) => orgId)}::uuid[], ${column(({ runId }) => runId)}::uuid[],
          ${column(({ rowId }) => rowId)}::uuid[]) with ordinality as i (o, run, r, n)
        join flights f on f.org_id = i.o and f.row_id = i.r and f.run_id = i.run and f.status = 'queued'`.execute(
        db,
      )
      const there = new Set(rows.map(({ n }) => n - 1))
      for (const [n, { flight, reservation }] of looked.entries()) {
        if (there.has(n) || kept.get(keyOf(flight))?.reservation !== reservation) continue
        kept.delete(keyOf(flight))
        release(reservation)
      }
    },
    drop(which) {
      for (const [key, { reservation }] of kept) {
        if (!which(reservation)) continue
        kept.delete(key)
        release(reservation)
      }
    },
  }
}
