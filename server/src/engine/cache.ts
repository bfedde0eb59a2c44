import type { ActionInstance } from '../chain/definition.ts'
import type { Store } from '../store/db.ts'
import type { Flight } from './desk.ts'

type Outputs = Record<string, unknown>

export type CellCache = {
  /** The stored outputs of an identical cell; null when the asker is the one to compute them, until `settled`. */
  find(flight: Flight, instance: ActionInstance, key: string, settled: Promise<void>): Promise<Outputs | null>
}

/**
 * Results of identical cells (D25). Within one process identical cells that run at the same time are computed once: the
 * others wait for the first and then look again.
 */
export function createCellCache(store: Store): CellCache {
  const underWay = new Map<string, Promise<void>>()

  return {
    async find(flight, instance, key, settled) {
      const id = `${flight.sheet_id} ${instance.id} ${instance.epoch} ${key}`
      const busy = underWay.get(id)
      if (busy === undefined) {
        underWay.set(id, settled)
        void settled.then(() => underWay.delete(id))
      } else {
        // Those who waited for one that failed do not wait for each other: none of them would be sooner done.
        await busy
      }
      return read(store, flight, instance, key)
    },
  }
}

const READ = `
select outputs from cell_cache
where org_id = $1 and sheet_id = $2 and action = $3 and epoch = $4 and key = decode($5, 'hex')
  and ($6::date is null or completed_at >= $6::date at time zone 'UTC')`

async function read(store: Store, flight: Flight, instance: ActionInstance, key: string) {
  const values = [flight.org_id, flight.sheet_id, instance.id, instance.epoch, key, flight.cache_since]
  const [row] = await store.query<{ outputs: Record<string, unknown> }>({
    name: 'engine-cache',
    text: READ,
    values,
  })
  return row?.outputs ?? null
}
