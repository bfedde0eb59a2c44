import { createKey, type ProviderKey, type ProviderKeys } from '../catalog/provider/access.ts'
import type { Store } from '../database/connection/db.ts'
import type { SheetKey } from '../database/tables/sheet-key.ts'
import { createMemo } from '../lib/memo.ts'
import type { EnvValues } from '../lib/security/env-values.ts'
import { type Sealer, unreadable } from '../lib/security/secrets.ts'
import { openConnection } from '../organisation/connection-keys.ts'
import { openEnv } from '../organisation/env-variables.ts'
import {
  type ConnectionRecord,
  listConnectionsOfMember,
  listConnectionsOfSheet,
} from '../organisation/store/connections.ts'
import { listEnvOfOrganisation, listEnvOfSheet } from '../organisation/store/env-variables.ts'
import { getKnowledge } from '../organisation/store/organisations.ts'
import type { SourceKeys } from '../sources/reach.ts'

/** The owner of connections. Without a member it means the shared ones. */
type MemberKey = { org_id: string; member_id: string | null }

/** Gives running rows what they need beside their sheet. A change is seen within a second or two. */
export type RunEnvironment = {
  /** Returns the environment variables as the sheet sees them. */
  envOf(sheet: SheetKey): Promise<EnvValues>
  keysOf(sheet: SheetKey): ProviderKeys
  /** Returns the installation's own key. */
  platformKey(provider: string): ProviderKey | null
  /** Returns what a person may use without a sheet: shared connections, their own, and the organisation's variables. */
  keysOfMember(member: MemberKey): SourceKeys
  knowledgeOf(orgId: string): Promise<string | null>
}

/**
 * The limits of the memos. A value read a moment ago is not read again: thousands of rows of a sheet ask for the same
 * one.
 */
const KEPT = { max: 1000, ttlMs: 1000 }
const MAX_BYTES = 16 * 1024 * 1024

type Connection = { id: string; provider: string; name: string; key: ProviderKey | null }

export function createRunEnvironment(
  store: Pick<Store, 'system'>,
  sealer: Sealer,
  providerKeys: ReadonlyMap<string, string>,
): RunEnvironment {
  const db = store.system
  const platform = new Map(
    [...providerKeys].map(([provider, secret]) => [provider, createKey('platform', { secret })]),
  )
  const env = createMemo<EnvValues>({ ...KEPT, bytes: { max: MAX_BYTES, of: lengthOf } })
  const connections = createMemo<Connection[]>(KEPT)
  const knowledge = createMemo<string | null>({
    ...KEPT,
    bytes: { max: MAX_BYTES, of: (text) => text?.length ?? 0 },
  })

  const envOf = ({ org_id, sheet_id }: SheetKey) =>
    env(sheet_id, async () => openEnv(sealer, org_id, await listEnvOfSheet(db, { org_id, sheet_id })))

  const open = (records: ConnectionRecord[]): Connection[] =>
    records.map((record) => {
      const { connection_id, provider, name } = record
      return { id: connection_id, provider, name, key: openConnection(db, sealer, record) }
    })
  const platformKey = (provider: string) => platform.get(provider) ?? null
  const keysAmong = (list: () => Promise<Connection[]>): ProviderKeys => ({
    platform: platformKey,
    own: async (provider, name) => {
      const ofProvider = (await list()).filter((one) => one.provider === provider)
      const named = name === undefined ? ofProvider : ofProvider.filter((one) => isNamed(one, name))
      const [first] = named
      if (first === undefined || first.key !== null) return first?.key ?? null
      const what = `the connection "${first.name}" to ${provider}`
      throw unreadable(what, 'remove it and add it again (`loam connection remove`, `loam connection add`)')
    },
  })

  return {
    envOf,
    platformKey,
    keysOf: ({ org_id, sheet_id }) =>
      keysAmong(() =>
        connections(sheet_id, async () => open(await listConnectionsOfSheet(db, { org_id, sheet_id }))),
      ),
    keysOfMember: (member) => ({
      ...keysAmong(() =>
        connections(`${member.org_id} ${member.member_id}`, async () =>
          open(await listConnectionsOfMember(db, member)),
        ),
      ),
      env: () =>
        env(member.org_id, async () =>
          openEnv(sealer, member.org_id, await listEnvOfOrganisation(db, member.org_id)),
        ),
    }),
    knowledgeOf: (orgId) => knowledge(orgId, async () => (await getKnowledge(db, orgId))?.content ?? null),
  }
}

function isNamed(connection: Connection, name: string): boolean {
  const wanted = name.trim().toLowerCase()
  return connection.id === wanted || connection.name.toLowerCase() === wanted
}

function lengthOf(variables: ReadonlyMap<string, string>): number {
  return variables.entries().reduce((length, [key, value]) => length + key.length + value.length, 0)
}
