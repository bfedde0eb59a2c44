import type { KyselyPlugin } from 'kysely'
import type { Db, Store } from '../../../database/connection/db.ts'

export class Killed extends Error {}

/** Returns a store that fails before its `at`-th statement, as if the process was killed there. */
export function killedAt(store: Store, at: number): Store {
  let count = 0
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      count += 1
      if (count >= at) throw new Killed(`killed before statement ${at}`)
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const cutOff = (db: Db): Db => db.withPlugin(plugin)
  return { ...store, system: cutOff(store.system), org: (orgId) => cutOff(store.org(orgId)) }
}
