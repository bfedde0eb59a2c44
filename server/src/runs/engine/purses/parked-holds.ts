import { sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'
import type { Hold } from './share.ts'

type ParkedFlight = { orgId: string; runId: string; rowId: string }

/**
 * The holds of cells whose flight is parked: a provider may have been asked already, and is paid when the cell goes on.
 * They are kept by the process that parked the flight, as long as the flight exists and no other process has claimed
 * it.
 */
export type ParkedHolds = {
  keep(flight: ParkedFlight, hold: Hold): void
  /** Returns the hold of a flight that was claimed, and removes it from here. */
  take(flight: ParkedFlight): Hold | null
  forgetGone(): Promise<void>
  drop(which: (hold: Hold) => boolean): void
}

export function createParkedHolds(db: Db, release: (hold: Hold) => void): ParkedHolds {
  const kept = new Map<string, { flight: ParkedFlight; hold: Hold }>()
  const keyOf = ({ orgId, runId, rowId }: ParkedFlight) => `${orgId} ${runId} ${rowId}`

  function take(flight: ParkedFlight): Hold | null {
    if (kept.size === 0) return null
    const key = keyOf(flight)
    const found = kept.get(key)
    kept.delete(key)
    return found?.hold ?? null
  }

  return {
    take,
    keep(flight, hold) {
      const before = take(flight)
      if (before !== null) release(before)
      kept.set(keyOf(flight), { flight, hold })
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
      for (const [n, { flight, hold }] of looked.entries()) {
        if (there.has(n) || kept.get(keyOf(flight))?.hold !== hold) continue
        kept.delete(keyOf(flight))
        release(hold)
      }
    },
    drop(which) {
      for (const [key, { hold }] of kept) {
        if (!which(hold)) continue
        kept.delete(key)
        release(hold)
      }
    },
  }
}
