import type { Store } from '#server/database/connection/db.ts'

/** Returns a store that records the statements of organisations. */
export function countStatements(store: Store): Store & { texts: string[] } {
  const texts: string[] = []
  const org: Store['org'] = (orgId) =>
    store.org(orgId).withPlugin({
      transformQuery({ node }) {
        texts.push(node.kind === 'RawNode' ? node.sqlFragments.join('?') : node.kind)
        return node
      },
      transformResult: async ({ result }) => result,
    })
  return { ...store, org, texts }
}
