import type { Store } from '../../../database/connection/db.ts'
import { inboxBinding } from '../../../lib/security/bindings.ts'
import type { Sealer } from '../../../lib/security/secrets.ts'
import { createFairBatcher } from '../../../lib/timing/fair-batcher.ts'
import { type Arrival, storeArrivals } from '../../store/source-inbox.ts'
import type { SourceKey } from '../../store/sources.ts'
import { queuePull } from '../jobs.ts'

/**
 * Stores what arrived for a source, sealed. Many arrivals share one transaction. The item is durable when the promise
 * resolves.
 */
export function createInbox(store: Store, sealer: Sealer) {
  const add = createFairBatcher<Arrival, true>({
    ownerOf: ({ org_id }) => org_id,
    async run(arrivals) {
      await store.system.transaction().execute(async (trx) => {
        for (const key of await storeArrivals(trx, arrivals)) await queuePull(trx, key)
      })
      return arrivals.map(() => true as const)
    },
    maxItems: 500,
  })
  return async ({ org_id, instance_id }: SourceKey, item: Record<string, unknown>): Promise<void> => {
    const sealed = sealer.seal(JSON.stringify(item), inboxBinding({ org_id, instance_id }))
    await add({ org_id, instance_id, sealed })
  }
}
