import { newId } from '../lib/ids.ts'
import { toStorableJson } from '../lib/storable.ts'
import type { Store } from '../store/db.ts'
import type { Flight, Settlement } from './desk.ts'
import { SETTLE } from './sql/settle.ts'

export type Settled = { runState: string }
type Item = { flight: Flight; settlement: Settlement }
/** `ns` are places in the batch, from 1. */
type Answer = { ns: number[]; run_state: string }

/** Lanes of tallies that this process writes in turn, so that two statements at once do not wait for each other. */
const LANES = 2

/** Sends many results as one statement, and answers null for those whose fence was lost. */
export function createSettler(store: Store, lane: number): (items: Item[]) => Promise<(Settled | null)[]> {
  let round = 0
  return async (items) => {
    round += 1
    // Everything that locks flights does so in the order of their rows.
    const places = new Map(items.map((item, n) => [item, n]))
    const batch = items.toSorted((one, other) => (one.flight.row_id < other.flight.row_id ? -1 : 1))
    const rows = await store.query<Answer>({
      name: 'engine-settle',
      text: SETTLE,
      values: [...columnsOf(batch), lane * LANES + (round % LANES)],
    })
    const answers: (Settled | null)[] = Array.from({ length: items.length }, () => null)
    for (const { ns, run_state } of rows) {
      const answer = { runState: run_state }
      for (const n of ns) {
        const item = batch[n - 1]
        const place = item === undefined ? undefined : places.get(item)
        if (place !== undefined) answers[place] = answer
      }
    }
    return answers
  }
}

function columnsOf(batch: Item[]): string[] {
  const column = (value: (item: Item) => string | number | boolean) => `{${batch.map(value).join(',')}}`
  return [
    column(({ flight }) => flight.org_id),
    column(({ flight }) => flight.sheet_id),
    column(({ flight }) => flight.row_id),
    column(({ flight }) => flight.run_id),
    column(({ flight }) => flight.revision),
    column(({ flight }) => flight.ticket),
    column(({ flight }) => flight.attempt),
    // Ids of actions and statuses are words: nothing in them needs quotes.
    column(({ flight }) => flight.action),
    column(({ settlement }) => settlement.status),
    column(({ settlement }) => settlement.startedAt),
    column(({ settlement }) => settlement.next !== null),
    toStorableJson(batch.map(({ settlement }) => settlement.outputs ?? null)),
    toStorableJson(batch.map(extrasOf)),
  ]
}

/** What a free cell that completed at the first attempt has nothing of. */
function extrasOf({ flight, settlement }: Item): object | null {
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
  return Object.keys(extras).length === 0 ? null : extras
}
