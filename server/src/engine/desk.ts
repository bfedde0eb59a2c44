import type { CellStatus } from '#contract/rows.ts'
import type { Provenance } from '../catalog/outcome.ts'
import { createBatcher } from '../lib/batcher.ts'
import { newId } from '../lib/ids.ts'
import { toStorableJson } from '../lib/storable.ts'
import { isUnavailable, type Store } from '../store/db.ts'
import { ABANDON } from './sql/abandon.ts'
import { CLAIM } from './sql/claim.ts'
import { IN_THE_AIR } from './sql/in-the-air.ts'
import { PARK } from './sql/park.ts'
import { RESERVE } from './sql/reserve.ts'
import { SETTLE } from './sql/settle.ts'

/** What a job names: the flight of a row, and which of its jobs this is. */
export type RowJob = { o: string; r: string; t: number }

/** A row in the air: where it is in its run, and what is known of it. */
export type Flight = {
  org_id: string
  sheet_id: string
  row_id: string
  run_id: string
  action: string
  ticket: number
  attempt: number
  retries: number
  held_millis: number
  state: unknown
  revision: number
  actions: string[]
  cache_enabled: boolean
  cache_since: string | null
  continue_on_fail: boolean
  /** How often rows were sent on from sheet to sheet until this run. */
  hops: number
  run_state: string
  /** JSON text keyed by column number; null when the row is gone. */
  data: string | null
  /** JSON text of `{action: [status, outputs]}`. */
  cells: string | null
}

/** The result of one cell, ready to be written. */
export type Settlement = {
  status: CellStatus
  outputs?: Record<string, unknown>
  error?: string
  creditsMillis: number
  cached: boolean
  provenance?: Provenance[] | undefined
  startedAt: number
  /** The action to go on with; null when the row ends here. */
  next: string | null
  cache?: { key: string; epoch: number } | undefined
  /** Outputs of this action are known only from its runs. */
  learns?: boolean
}

export type Parking = { ms: number; retries: number; attempt: number; state?: unknown; priority?: number }

/** Everything that workers write, in micro-batches: one statement carries the rows of many. */
export type Desk = {
  claim(job: RowJob): Promise<Flight | null>
  /** Null when the fence was lost: somebody else has the row now, and nothing was written. */
  settle(flight: Flight, settlement: Settlement): Promise<{ runState: string } | null>
  reserve(flight: Flight, priceMillis: number): Promise<'held' | 'no_credits' | 'lost'>
  park(flight: Flight, parking: Parking): Promise<boolean>
  abandon(flight: Flight): Promise<boolean>
  /** Whether the flight's job still has something to do, whoever does it. */
  isInTheAir(flight: Flight): Promise<boolean>
}

const MAX_ITEMS = 500

type BatchAnswer<Row> = { row: Row | null } | { fault: unknown }

export function createDesk(store: Store, lane: number): Desk {
  /** A batcher over one statement that answers some of the items by their number. */
  function batched<Row extends { n: number }>(name: string, text: string, lanes = 2) {
    let round = 0
    const batch = createBatcher<object, BatchAnswer<Row>>({
      maxItems: MAX_ITEMS,
      maxInFlight: lanes,
      run: async (items) => {
        try {
          return await send(items)
        } catch (cause) {
          // One item that PostgreSQL refuses must not take the others with it.
          if (items.length === 1 || isUnavailable(cause)) throw cause
          const single = await Promise.allSettled(items.map((item) => send([item])))
          return single.map((one) =>
            one.status === 'fulfilled' ? (one.value[0] ?? { row: null }) : { fault: one.reason },
          )
        }
      },
    })

    async function send(items: object[]): Promise<BatchAnswer<Row>[]> {
      round += 1
      const values: unknown[] = [toStorableJson(items.map((item, n) => ({ n, ...item })))]
      if (text.includes('$2')) values.push(lane * lanes + (round % lanes))
      const rows = await store.query<Row>({ name, text, values })
      const byNumber = new Map(rows.map((row) => [row.n, row]))
      return items.map((_, n) => ({ row: byNumber.get(n) ?? null }))
    }

    return async (item: object): Promise<Row | null> => {
      const answer = await batch(item)
      if ('fault' in answer) throw answer.fault
      return answer.row
    }
  }

  const claim = batched<Flight & { n: number }>('engine-claim', CLAIM)
  const settle = batched<{ n: number; run_state: string }>('engine-settle', SETTLE)
  const reserve = batched<{ n: number; answer: 'held' | 'no_credits' | 'lost' }>('engine-reserve', RESERVE, 1)
  const park = batched<{ n: number }>('engine-park', PARK)
  const abandon = batched<{ n: number }>('engine-abandon', ABANDON)
  const inTheAir = batched<{ n: number }>('engine-in-the-air', IN_THE_AIR)

  return {
    claim,
    async settle(flight, settlement) {
      const row = await settle({
        ...fenceOf(flight),
        s: flight.sheet_id,
        st: settlement.status,
        out: settlement.outputs ?? null,
        err: settlement.error ?? null,
        rev: flight.revision,
        at: settlement.startedAt,
        tries: flight.retries + 1,
        cr: settlement.creditsMillis,
        hd: flight.held_millis,
        ca: settlement.cached,
        pv: settlement.provenance ?? null,
        nx: settlement.next,
        e: newId(),
        ck: settlement.cache?.key ?? null,
        ep: settlement.cache?.epoch ?? null,
        ln: settlement.learns ?? false,
      })
      return row === null ? null : { runState: row.run_state }
    },
    reserve: async (flight, price) => (await reserve({ ...fenceOf(flight), price }))?.answer ?? 'lost',
    async park(flight, { ms, retries, attempt, state, priority }) {
      const item = {
        ms: Math.ceil(ms),
        tries: retries,
        keep: attempt,
        state: state ?? null,
        pr: priority ?? 0,
      }
      return (await park({ ...fenceOf(flight), ...item })) !== null
    },
    abandon: async (flight) => (await abandon(fenceOf(flight))) !== null,
    isInTheAir: async ({ org_id, row_id, ticket }) =>
      (await inTheAir({ o: org_id, r: row_id, t: ticket })) !== null,
  }
}

function fenceOf(flight: Flight) {
  return {
    o: flight.org_id,
    r: flight.row_id,
    run: flight.run_id,
    t: flight.ticket,
    a: flight.attempt,
    act: flight.action,
  }
}
