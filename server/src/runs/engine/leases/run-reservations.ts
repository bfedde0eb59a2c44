import { sql } from 'kysely'
import type { Db } from '../../../database/connection/db.ts'
import type { Reservation } from './lease.ts'

/** The credits that a holder has reserved for a run. */
type Held = { orgId: string; runId: string; holder: string; millis: number; written: number }

/** The credits held for each run. Written to the database every second, for those who ask about the run. */
export class RunReservations {
  readonly #db: Db
  /** Held credits by holder, then by run. */
  readonly #held = new Map<string, Map<string, Held>>()
  readonly #changed = new Set<Held>()

  constructor(db: Db) {
    this.#db = db
  }

  add({ orgId, runId, holder: { id: holder } }: Reservation, millis: number): void {
    let runs = this.#held.get(holder)
    if (runs === undefined) this.#held.set(holder, (runs = new Map()))
    let found = runs.get(runId)
    if (found === undefined) runs.set(runId, (found = { orgId, runId, holder, millis: 0, written: 0 }))
    found.millis += millis
    this.#changed.add(found)
  }

  async write(): Promise<void> {
    const now = [...this.#changed].map((one) => ({ one, millis: one.millis }))
    this.#changed.clear()
    const news = now.filter(({ one, millis }) => millis !== one.written)
    await this.#send(news).catch((cause: unknown) => {
      for (const { one } of news) this.#changed.add(one)
      throw cause
    })
    for (const { one, millis } of now) {
      one.written = millis
      if (one.millis !== 0 || millis !== 0) continue
      const runs = this.#held.get(one.holder)
      runs?.delete(one.runId)
      if (runs?.size === 0) this.#held.delete(one.holder)
    }
  }

  async #send(news: readonly { one: Held; millis: number }[]): Promise<void> {
    if (news.length === 0) return
    const column = (name: 'orgId' | 'runId' | 'holder') => news.map(({ one }) => one[name])
    await sql`
      with told as (
        select * from unnest(${column('orgId')}::uuid[], ${column('runId')}::uuid[], ${column('holder')}::text[],
          ${news.map(({ millis }) => millis)}::bigint[]) as t (o, run, h, millis)
      ), gone as (
        delete from run_holds r using told t
        where t.millis = 0 and r.org_id = t.o and r.run_id = t.run and r.holder = t.h
      )
      insert into run_holds (org_id, run_id, holder, held_millis)
      select o, run, h, millis from told where millis > 0
      on conflict (org_id, run_id, holder) do update set held_millis = excluded.held_millis`.execute(this.#db)
  }
}
