import { createKey, type ProviderKey, type ProviderKeys } from '../catalog/provider/access.ts'
import type { Sealer } from '../lib/security/secrets.ts'
import type { Store } from '../store/connection/db.ts'
import { listConnectionsOfSheet } from '../store/organisation/connections.ts'
import { listEnvOfSheet } from '../store/organisation/env-variables.ts'
import { getKnowledge } from '../store/organisation/organisations.ts'
import { openConnection } from './connection-keys.ts'
import { openEnv } from './env-variables.ts'

type SheetKey = { org_id: string; sheet_id: string }

/** What rows draw on beside their sheet when they run. A change is seen within a second or two. */
export type RunEnvironment = {
  /** Values of environment variables, by key, as the sheet sees them. */
  envOf(sheet: SheetKey): Promise<ReadonlyMap<string, string>>
  keysOf(sheet: SheetKey): ProviderKeys
  knowledgeOf(orgId: string): Promise<string | null>
}

type Connection = { id: string; provider: string; name: string; key: ProviderKey | null }

export function createRunEnvironment(
  store: Store,
  sealer: Sealer,
  providerKeys: ReadonlyMap<string, string>,
): RunEnvironment {
  const db = store.system
  const platform = new Map(
    [...providerKeys].map(([provider, secret]) => [provider, createKey('platform', { secret })]),
  )
  const remember = createMemory()

  const envOf = ({ org_id, sheet_id }: SheetKey) =>
    remember(`env ${sheet_id}`, async () =>
      openEnv(sealer, org_id, await listEnvOfSheet(db, { org_id, sheet_id })),
    )

  const connectionsOf = ({ org_id, sheet_id }: SheetKey) =>
    remember(`connections ${sheet_id}`, async (): Promise<Connection[]> => {
      const records = await listConnectionsOfSheet(db, { org_id, sheet_id })
      return records.map((record) => {
        const { connection_id, provider, name } = record
        return { id: connection_id, provider, name, key: openConnection(db, sealer, record) }
      })
    })

  return {
    envOf,
    keysOf: (sheet) => ({
      platform: (provider) => platform.get(provider) ?? null,
      own: async (provider, name) => {
        const theirs = (await connectionsOf(sheet)).filter((one) => one.provider === provider)
        const named = name === undefined ? theirs : theirs.filter((one) => isNamed(one, name))
        return named[0]?.key ?? null
      },
    }),
    knowledgeOf: (orgId) =>
      remember(`knowledge ${orgId}`, async () => (await getKnowledge(db, orgId))?.content ?? null),
  }
}

function isNamed(connection: Connection, name: string): boolean {
  const wanted = name.trim().toLowerCase()
  return connection.id === wanted || connection.name.toLowerCase() === wanted
}

const KEPT_MS = 1000
const MAX_KEPT = 2000

/** What was read a moment ago is not read again: thousands of rows of a sheet ask for the same. */
function createMemory() {
  const known = new Map<string, { until: number; value: Promise<unknown> }>()
  return function remember<Value>(key: string, read: () => Promise<Value>): Promise<Value> {
    const found = known.get(key)
    // A key names one kind of value, so what was kept under it is of this type.
    if (found !== undefined && found.until > Date.now()) return found.value as Promise<Value>
    if (known.size >= MAX_KEPT) known.clear()
    const value = read()
    known.set(key, { until: Date.now() + KEPT_MS, value })
    value.catch(() => known.delete(key))
    return value
  }
}
