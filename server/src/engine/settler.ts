import { newId } from '../lib/ids.ts'
import { toStorableJson } from '../lib/storable.ts'
import type { Store } from '../store/db.ts'
import type { Flight, Settlement } from './desk.ts'
import { settleStatement } from './sql/settle.ts'

export type Settled = { runState: string }
type Item = { flight: Flight; settlement: Settlement; place: number; extras: object | null }
/** `ns` are places in the batch, from 1. */
type Answer = { ns: number[]; run_state: string }

/** Lanes of tallies that this process writes in turn, so that two statements at once do not wait for each other. */
const LANES = 2

/** Sends many results as one statement, and answers null for those whose fence was lost. One alone is sent carefully. */
export function createSettler(
  store: Store,
  lane: number,
): (given: { flight: Flight; settlement: Settlement }[]) => Promise<(Settled | null)[]> {
  let round = 0
  return async (given) => {
    round += 1
    const batch = given.map(({ flight, settlement }, place): Item => {
      return { flight, settlement, place, extras: extrasOf(flight, settlement) }
    })
    // Everything that locks flights does so in the order of their rows.
    batch.sort((one, other) => (one.flight.row_id < other.flight.row_id ? -1 : 1))
    const careful = batch.length === 1
    const extras = careful || batch.some((item) => item.extras !== null)
    const landing = batch.some(({ settlement }) => settlement.next === null)
    const values: unknown[] = [...columnsOf(batch), lane * LANES + (round % LANES)]
    if (extras) values.push(toStorableJson(batch.map((item) => item.extras)))
    const rows = await store.query<Answer>({
      name: `engine-settle-${Number(extras)}${Number(landing)}${Number(careful)}`,
      text: settleStatement({ extras, landing, careful }),
      values,
    })
    const answers: (Settled | null)[] = Array.from({ length: batch.length }, () => null)
    for (const { ns, run_state } of rows) {
      const answer = { runState: run_state }
      for (const n of ns) {
        const item = batch[n - 1]
        if (item !== undefined) answers[item.place] = answer
      }
    }
    return answers
  }
}

function columnsOf(batch: Item[]): string[] {
  const runs = new Map<string, { flight: Flight; k: number }>()
  for (const { flight } of batch) {
    if (!runs.has(flight.run_id)) runs.set(flight.run_id, { flight, k: runs.size + 1 })
  }
  const shared = [...runs.values()]
  const perRun = (value: (flight: Flight) => string | number) =>
    `{${shared.map(({ flight }) => value(flight)).join(',')}}`
  const column = (value: (item: Item) => string | number | boolean) => `{${batch.map(value).join(',')}}`
  return [
    perRun((flight) => flight.org_id),
    perRun((flight) => flight.sheet_id),
    perRun((flight) => flight.run_id),
    perRun((flight) => flight.revision),
    column(({ flight }) => runs.get(flight.run_id)?.k ?? 0),
    column(({ flight }) => flight.row_id),
    column(({ flight }) => flight.ticket),
    column(({ flight }) => flight.attempt),
    // Ids of actions and statuses are words: nothing in them needs quotes.
    column(({ flight }) => flight.action),
    column(({ settlement }) => settlement.status),
    column(({ settlement }) => settlement.startedAt),
    column(({ settlement }) => settlement.next !== null),
    toStorableJson(batch.map(({ settlement }) => settlement.outputs ?? null)),
  ]
}

/** What a free cell that completed at the first attempt has nothing of. */
function extrasOf(flight: Flight, settlement: Settlement): object | null {
  const { creditsMillis, cached, cache, learns, error, provenance } = settlement
  const { held_millis, retries, state } = flight
  const extras: Record<string, unknown> = {}
  if (error !== undefined) extras['err'] = error
  if (provenance !== undefined) extras['pv'] = provenance
  if (retries > 0) extras['tries'] = retries + 1
  if (held_millis > 0) Object.assign(extras, { hd: held_millis, cr: creditsMillis, e: newId() })
  if (cached) extras['ca'] = true
  if (learns === true) extras['ln'] = true
  if (cache !== undefined) Object.assign(extras, { ck: cache.key, ep: cache.epoch })
  if (cache?.keep === true) extras['kp'] = true
  if (held_millis > 0 || retries > 0 || state !== null) extras['cl'] = true
  for (const _ in extras) return extras
  return null
}
