import type { KyselyPlugin } from 'kysely'
import type { Db, Store } from '#server/database/connection/db.ts'

function withPlugin(store: Store, pluginOf: (db: Db) => KyselyPlugin): Store {
  return {
    ...store,
    org: (orgId) => {
      const db = store.org(orgId)
      return db.withPlugin(pluginOf(db))
    },
  }
}

/** Returns a store that records the texts of statements sent for organisations. */
export function listenTo(store: Store): Store & { texts: string[] } {
  const texts: string[] = []
  const listening = withPlugin(store, (db) => ({
    transformQuery({ node, queryId }) {
      texts.push(db.getExecutor().compileQuery(node, queryId).sql)
      return node
    },
    transformResult: async ({ result }) => result,
  }))
  return { ...listening, texts }
}

/**
 * Returns a store that simulates the end of its user: every statement from this number on fails after it was
 * executed.
 */
export function endAfter(store: Store, number: number, cause = new Error('killed here')): Store {
  let count = 0
  return withPlugin(store, () => ({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      count += 1
      if (count >= number) throw cause
      return result
    },
  }))
}
