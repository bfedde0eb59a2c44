import type { Store } from '../../../database/connection/db.ts'
import { createBatcher } from '../../../lib/timing/batcher.ts'
import { createSlots } from '../../../lib/timing/slots.ts'
import type { Flight } from './flight.ts'

/**
 * The JSON text that the large rows in flight of one process may hold. Each organisation has its first row in any case.
 */
const MAX_HELD = 32 * 1024 * 1024
/** The stored, compressed bytes that one statement reads. */
const MAX_READ = 256 * 1024
const MAX_ROW = 2 * 1024 * 1024
/** The most bytes that one stored byte may expand to. */
const MAX_EXPANSION = 256

export type WithInputs = (flight: Flight, walk: (flight: Flight) => Promise<void>) => Promise<void>

type Wanted = { org: string; row: string; bytes: number }
type Read = { n: number; data: string }

const READ = `
select i.n, r.data::text as data
from unnest($1::uuid[], $2::uuid[], $3::int[]) as i (o, r, n)
join rows r on r.org_id = i.o and r.row_id = i.r`

/**
 * Walks flights whose large inputs were not read by their claim, when there is room for the inputs. Organisations take
 * turns. While the process ends nothing is read any more.
 */
export function createLargeRows(store: Store, isEnding: () => boolean, maxHeld = MAX_HELD): WithInputs {
  const room = createSlots(maxHeld)
  const read = createBatcher<Wanted, { data: string | null }>({
    maxItems: MAX_READ,
    maxInFlight: 2,
    sizeOf: ({ bytes }) => bytes,
    isolates: () => true,
    async run(items) {
      const rows = await store.query<Read>({
        name: 'engine-large-rows',
        text: READ,
        values: [items.map(({ org }) => org), items.map(({ row }) => row), items.map((_, n) => n)],
      })
      const found = new Map(rows.map(({ n, data }) => [n, data]))
      return items.map((_, n) => ({ data: found.get(n) ?? null }))
    },
  })

  return async (flight, walk) => {
    const { facts, row } = flight
    if (row.unreadBytes === 0) return walk(flight)
    // The length is unknown until the inputs are read.
    let held = Math.min(MAX_ROW, row.unreadBytes * MAX_EXPANSION)
    await room.take(facts.org_id, held)
    try {
      if (isEnding()) {
        await walk(flight)
        return
      }
      const { data } = await read({ org: facts.org_id, row: row.id, bytes: row.unreadBytes })
      const length = data?.length ?? 0
      if (length < held) {
        room.giveBack(facts.org_id, held - length)
        held = length
      }
      await walk({ ...flight, row: { ...row, data, unreadBytes: 0 } })
    } finally {
      room.giveBack(facts.org_id, held)
    }
  }
}
