import type { ActionInstance } from '../../../catalog/chain/definition.ts'
import type { Store } from '../../../database/connection/db.ts'
import { backoff } from '../../../lib/timing/backoff.ts'
import type { Ending } from '../ending.ts'
import type { Flight } from '../flights/flight.ts'
import { FIND_CACHED } from '../sql/find-cached.ts'
import { type AskedCell, type CacheHit, createCacheHits, readHit, type StoredAnswer } from './cache-hits.ts'
import { createClaimWait, readClaimWait } from './parked-state.ts'

/**
 * The answer of the cache for a cell. `later`: another row computes the cell, and is itself parked or takes long.
 * `ending`: the process ends before the result is known. `not yet`: the cell is neither stored nor to be computed
 * without waiting.
 */
export type Cached =
  /** `isClaimed`: the row has the claim all the same, which ends with its cell. */
  | ({ kind: 'hit'; isClaimed?: boolean } & CacheHit)
  | { kind: 'miss' }
  | { kind: 'not yet' }
  | { kind: 'later'; ms: number; state: unknown }
  | { kind: 'ending' }

/** Resolves when the cell is settled, with 0, or when its row is parked, with the number of milliseconds. */
export type CellEnd = Promise<number>

/** The way in which a cell is looked up. */
export type CacheUse = {
  end: CellEnd
  express: boolean
  /** Set if the cell was looked up just now and is not stored. */
  isMissing: boolean
  /** The result of `look`, if it was called before. */
  looked: CacheHit | null | undefined
  /** Set if the cell may wait for another row. A row that delays results which it has computed must not. */
  mayWait: boolean
  /**
   * Set if the cell may be computed at once. A cell that costs credits is computed by one row, and the others wait for
   * it.
   */
  mayCompute: boolean
}

export type CellCache = {
  /** Returns the stored outputs of an identical cell, or says that the caller is to compute them. */
  find(flight: Flight, instance: ActionInstance, key: string, use: CacheUse): Promise<Cached>
  /** Looks cells up without claiming them. */
  look(asked: readonly AskedCell[], express: boolean): Promise<(CacheHit | null)[]>
}

const POLL_MS = 250
/** The time for which a row is waited for in place at first, even if it is parked for a moment. */
const SHORT_MS = 1000
/** The wait after which a row gives its place to others. The row that it waits for may be among them. */
const PATIENCE_MS = 5000
const LATER = { firstMs: 500, maxMs: 10_000 }
const MAX_LATER_MS = 60_000

/** A row of this process that computes a cell, or that asks for all others of the process whether the cell is done. */
type Asker = { row: string; end: CellEnd }

/**
 * Creates the cache of results of identical cells (D25). Identical cells are computed once (D27), by the row that has
 * the claim, through all its retries, polls and gates. The other rows wait for it, for a moment in place and then
 * parked, so that they never take the place that it needs. If it fails, one of them takes over the claim and the others
 * go on waiting (D85).
 */
export function createCellCache(store: Store, ending: Ending): CellCache {
  const askers = new Map<string, Asker>()
  const hits = createCacheHits(store)
  const findOne = async (asked: AskedCell, express: boolean) => (await hits.find([asked], express))[0] ?? null

  function register(id: string, asker: Asker): void {
    askers.set(id, asker)
    void asker.end.then(() => askers.get(id) === asker && askers.delete(id))
  }

  return {
    look: (asked, express) => hits.find(asked, express),
    async find(flight, instance, key, { end, express, isMissing, looked, mayWait, mayCompute }) {
      const { facts, row } = flight
      const asked = askedOf(flight, instance, key)
      const hit = isMissing ? null : looked === undefined ? await findOne(asked, express) : looked
      if (hit !== null) return { kind: 'hit', ...hit }
      if (!mayWait && !mayCompute) return { kind: 'not yet' }
      const id = `${facts.sheet_id} ${instance.id} ${instance.epoch} ${key}`
      const self = { row: row.id, end }
      const read = () => readCache(store, flight, instance, key)
      /**
       * Looks for the result once more after the row got the claim, unless the cell is free and pure: the former
       * claimant may have stored it after the statement looked for it, and before it made the claim.
       */
      const confirm = async (): Promise<Cached> => {
        const stored = mayCompute ? null : await findOne(asked, express)
        return stored === null ? { kind: 'miss' } : { kind: 'hit', isClaimed: true, ...stored }
      }
      // The retries and state of the flight belong to its first unsettled cell, which may wait.
      if (mayWait && hasBegun(flight)) return toCached(await read())
      if (!askers.has(id)) {
        register(id, self)
        const claimed = await hits.claim(asked, express)
        if (claimed !== null) return claimed.hit === null ? confirm() : toCached(claimed)
      }
      if (!mayWait) return { kind: 'not yet' }
      const began = Date.now()
      let waitsFor = readClaimWait(flight.position.state)
      const shortMs = waitsFor === null ? SHORT_MS : 0
      // A row that was parked may be the one that all others wait for: it asks before it waits.
      let asker = flight.fence.attempt > 1 ? undefined : askers.get(id)
      for (;;) {
        let parkedMs: number | 'too long' = 0
        if (asker !== undefined && asker.row !== self.row) {
          parkedMs = await Promise.race([
            asker.end,
            ending.pause(PATIENCE_MS).then(() => 'too long' as const),
          ])
          waitsFor = asker.row
          // All who waited for the row look in one statement. If there is no result, one of them asks on and the others
          // wait for that one.
          const answer = await findOne(asked, express)
          if (answer !== null) return { kind: 'hit', ...answer }
          const next = askers.get(id)
          if (next !== undefined && next !== asker && Date.now() - began <= PATIENCE_MS) {
            asker = next
            continue
          }
        }
        if (parkedMs === 0) register(id, self)
        const found = await read()
        if (found.hit !== null) return toCached(found)
        if (found.claimant === self.row) {
          register(id, self)
          return confirm()
        }
        if (ending.hasBegun()) return { kind: 'ending' }
        const waitedMs = Date.now() - began
        waitsFor = found.claimant ?? waitsFor
        if (parkedMs !== 0 || waitedMs > PATIENCE_MS || (found.parked && waitedMs >= shortMs)) {
          const ms = typeof parkedMs === 'number' ? laterMs(flight, parkedMs) : laterMs(flight, 0)
          return { kind: 'later', ms, state: waitsFor === null ? null : createClaimWait(waitsFor) }
        }
        asker = askers.get(id)
        if (asker === undefined || asker.row === self.row) await ending.pause(POLL_MS)
      }
    },
  }
}

export const askedOf = ({ facts, row }: Flight, { id, epoch }: ActionInstance, key: string): AskedCell => ({
  facts,
  row: row.id,
  action: id,
  epoch,
  key,
})

/**
 * Returns true if the action was called for this cell before. What it has done so far is not thrown away to wait for
 * another row.
 */
function hasBegun({ position: { retries, state } }: Flight): boolean {
  return retries > 0 || (state !== null && readClaimWait(state) === null)
}

/** Returns how long to park: a little longer than the awaited row is parked, if that is known, and longer each time. */
function laterMs({ fence }: Flight, parkedMs: number): number {
  const after = parkedMs === 0 ? 0 : Math.min(parkedMs, MAX_LATER_MS) + 50 + Math.random() * POLL_MS
  return Math.max(after, backoff(fence.attempt, LATER))
}

const toCached = ({ hit }: Pick<Found, 'hit'>): Cached =>
  hit === null ? { kind: 'miss' } : { kind: 'hit', ...hit }

type Claimed = { claimant: string | null; parked: boolean }
type Found = Claimed & { hit: CacheHit | null }

async function readCache(
  store: Store,
  flight: Flight,
  instance: ActionInstance,
  key: string,
): Promise<Found> {
  const { org_id, sheet_id, fresh_since, run_id } = flight.facts
  const [found] = await store.query<Claimed & (StoredAnswer | { outputs: null })>({
    name: 'engine-find-cached',
    text: FIND_CACHED,
    values: [org_id, sheet_id, instance.id, instance.epoch, key, fresh_since, flight.row.id, run_id],
  })
  if (found === undefined) throw new Error('the cache gave no answer')
  const { claimant, parked } = found
  return { claimant, parked, hit: readHit(found) }
}
