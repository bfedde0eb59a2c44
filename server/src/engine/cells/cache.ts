import type { ActionInstance } from '../../chain/definition.ts'
import { parseLossless } from '../../lib/json/lossless-json.ts'
import type { Store } from '../../store/connection/db.ts'
import type { Ending } from '../ending.ts'
import type { Flight } from '../flights/flight.ts'
import { FIND_CACHED } from '../sql/find-cached.ts'

type Outputs = Record<string, unknown>

/** `ending`: the process ends while another one computes it. */
export type Cached = { kind: 'hit'; outputs: Outputs } | { kind: 'miss' } | { kind: 'ending' }

export type CellCache = {
  /** The stored outputs of an identical cell, or that the asker is to compute them, until `settled`. */
  find(flight: Flight, instance: ActionInstance, key: string, settled: Promise<void>): Promise<Cached>
}

const POLL_MS = 250
const MAX_WAIT_MS = 120_000

/**
 * Results of identical cells (D25). Identical cells that run at the same time are computed once (D27): within the process the
 * others wait for the first, and among processes for the one whose row has the claim. Each waits once: when the first has
 * failed, none of the others would be sooner done by waiting for each other.
 */
export function createCellCache(store: Store, ending: Ending): CellCache {
  const underWay = new Map<string, Promise<void>>()

  return {
    async find(flight, instance, key, settled) {
      const id = `${flight.facts.sheet_id} ${instance.id} ${instance.epoch} ${key}`
      const busy = underWay.get(id)
      if (busy !== undefined) {
        await busy
        return toCached(await readCache(store, flight, instance, key))
      }
      underWay.set(id, settled)
      void settled.then(() => underWay.delete(id))
      const first = await readCache(store, flight, instance, key)
      const deadline = Date.now() + MAX_WAIT_MS
      let now = first
      while (now.outputs === null && now.claimant !== flight.row.id && now.claimant === first.claimant) {
        if (Date.now() > deadline) return { kind: 'miss' }
        await ending.pause(POLL_MS)
        if (ending.hasBegun()) return { kind: 'ending' }
        now = await readCache(store, flight, instance, key)
      }
      return toCached(now)
    },
  }
}

const toCached = ({ outputs }: Found): Cached =>
  outputs === null ? { kind: 'miss' } : { kind: 'hit', outputs }

type Found = { outputs: Outputs | null; claimant: string | null }

async function readCache(
  store: Store,
  flight: Flight,
  instance: ActionInstance,
  key: string,
): Promise<Found> {
  const { org_id, sheet_id, cache_since, run_id } = flight.facts
  const [found] = await store.query<{ outputs: string | null; claimant: string | null }>({
    name: 'engine-find-cached',
    text: FIND_CACHED,
    values: [org_id, sheet_id, instance.id, instance.epoch, key, cache_since, flight.row.id, run_id],
  })
  if (found === undefined) throw new Error('the cache gave no answer')
  const { outputs, claimant } = found
  return { outputs: outputs === null ? null : (parseLossless(outputs) as Outputs), claimant }
}
