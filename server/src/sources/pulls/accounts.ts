import type { SourceType } from '#contract/screens.ts'
import type { Provider } from '../../catalog/provider/provider.ts'
import type { Db } from '../../database/connection/db.ts'
import type { Config } from '../../lib/config/config.ts'
import type { Egress } from '../../lib/egress/egress.ts'
import { listConnectedProviders } from '../../organisation/store/connections.ts'
import type { Source } from '../define.ts'

type Account = SourceType['accounts'][number]
type Installation = { config: Pick<Config, 'providerKeys'>; egress: Egress }

type Member = { org_id: string; member_id: string }

/** Returns the ids of the providers that a member has connected, or may use because their connection is shared. */
export async function readConnected(db: Db, member: Member): Promise<ReadonlySet<string>> {
  return new Set(await listConnectedProviders(db, member))
}

/** Lists the providers of a source, each once, with the key that a pull by this member would use now. */
export function listAccounts(
  { pulls, receives }: Source,
  connected: ReadonlySet<string>,
  installation: Installation,
): Account[] {
  const asked = [...pulls, ...(receives?.lookups ?? [])].map(({ provider }) => provider)
  return [...new Set(asked)].map((provider) => ({
    provider: provider.id,
    name: provider.name,
    connects: provider.supportsOwnKey,
    key: findKey(provider, connected, installation),
  }))
}

/** Finds the key in the order of `reachSource`: an own one, none if none is needed, that of the installation. */
function findKey(
  provider: Provider,
  connected: ReadonlySet<string>,
  { config, egress }: Installation,
): Account['key'] {
  const { id, auth, supportsOwnKey, requiresOwnKey } = provider
  if (supportsOwnKey && connected.has(id)) return 'own'
  const context = { egress, signal: new AbortController().signal, now: () => new Date() }
  if (auth.kind === 'none') return provider.isPlaced(context) ? 'not_needed' : 'none'
  return !requiresOwnKey && config.providerKeys.has(id) ? 'installation' : 'none'
}
