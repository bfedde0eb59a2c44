import { sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'
import type { Reservation } from './lease.ts'

/** The credits held for each run. Written to the database every second, for those who ask about the run. */
export type RunReservations = { add(reservation: Reservation, millis: number): void; write(): Promise<void> }

export function createRunReservations(db: Db): RunReservations {
  type Held = {
    orgId: string
    runId: string
    holder: string
    millis: number
    written: number
    isChanged: boolean
  }
  /** Held credits by holder, then by run. */
  const held = new Map<string, Map<string, Held>>()
  const changed = new Set<Held>()
  const note = (one: Held) => {
    one.isChanged = true
    changed.add(one)
  }

  return {
    add({ orgId, runId, holder: { id: holder } }, millis) {
      let runs = held.get(holder)
      if (runs === undefined) held.set(holder, (runs = new Map()))
      let found = runs.get(runId)
      if (found === undefined)
        runs.set(runId, (found = { orgId, runId, holder, millis: 0, written: 0, isChanged: false }))
      found.millis += millis
      if (!found.isChanged) note(found)
    },
    async write() {
      const now = [...changed].map((one) => ({ one, millis: one.millis }))
      for (const one of changed) one.isChanged = false
      changed.clear()
      const news = now.filter(({ one, millis }) => millis !== one.written)
      const column = <Value>(of: (one: Held) => Value) => news.map(({ one }) => of(one))
      if (news.length > 0) {
        await sql`
          with told as (
            select * from unnest(${column(({ orgId }) => orgId)}::uuid[], ${column(({ runId }) => runId)}::uuid[],
              ${column(({ holder }) => holder)}::text[], ${news.map(({ millis }) => millis)}::bigint[]) as t (o, run, h, millis)
          ), gone as (
            delete from run_holds r using told t
            where t.millis = 0 and r.org_id = t.o and r.run_id = t.run and r.holder = t.h
          )
          insert into run_holds (org_id, run_id, holder, held_millis)
          select o, run, h, millis from told where millis > 0
          on conflict (org_id, run_id, holder) do update set held_millis = excluded.held_millis`
          .execute(db)
          .catch((cause: unknown) => {
            for (const { one } of news) note(one)
            throw cause
          })
      }
      for (const { one, millis } of now) {
        one.written = millis
        if (one.millis !== 0 || millis !== 0) continue
        const runs = held.get(one.holder)
        runs?.delete(one.runId)
        if (runs?.size === 0) held.delete(one.holder)
      }
    },
  }
}
