import type { Warning } from '#contract/envelope.ts'
import type { ActionInstance } from '../catalog/chain/definition.ts'
import type { ChainView } from '../catalog/configuration/chain-view.ts'
import type { ConfigurationEnvironment } from '../catalog/configuration/environment.ts'
import type { Reach } from '../catalog/configuration/reach.ts'
import { checkConfiguration, distinct } from '../catalog/configuration/warnings.ts'
import { hasToken } from '../catalog/fields/field.ts'
import { hasModels, type Models } from '../catalog/models/models.ts'
import { MODEL_VENDORS } from '../catalog/models/vendors.ts'
import { createKey, type ProviderKeys } from '../catalog/provider/access.ts'
import type { Db } from '../database/connection/db.ts'
import type { Config } from '../lib/config/config.ts'
import type { Egress } from '../lib/egress/egress.ts'
import { listConnectedProviders } from '../organisation/store/connections.ts'
import { listEnvironmentNames } from '../organisation/store/environment-names.ts'
import type { SheetRecord } from './store/sheets.ts'

/** The parts of the installation that a configuration is checked against. */
export type Installation = { config: Config; models: Pick<Models, 'find'>; egress: Egress }

/** Lists the problems that keep an action, as it is configured now, from working. */
export async function listProblems(
  db: Db,
  sheet: SheetRecord,
  { action, chain }: { action: ActionInstance; chain: ChainView },
  installation: Installation,
): Promise<Warning[]> {
  const environment = await readEnvironment(db, sheet, installation)
  return distinct([
    ...checkConfiguration(action, chain, environment),
    ...(await listModelProblems(action, chain, environment, installation)),
  ])
}

/**
 * Reads the environment of a sheet for checking its configuration: which keys it has and how many connections, but no values.
 */
export async function readEnvironment(
  db: Db,
  sheet: SheetRecord,
  installation: Pick<Installation, 'config' | 'egress'>,
): Promise<ConfigurationEnvironment> {
  const { env_keys, connections } = await listEnvironmentNames(db, sheet)
  return {
    envKeys: new Set(env_keys),
    connectionsOf(provider, name) {
      const wanted = name?.trim().toLowerCase()
      return connections.filter(
        (one) =>
          one.provider === provider &&
          (wanted === undefined || one.id === wanted || one.name.toLowerCase() === wanted),
      ).length
    },
    ...keysOfInstallation(installation),
  }
}

/** Reads which keys the installation and a member have, without a sheet: the member's connections and shared ones. */
export async function readReach(
  db: Db,
  member: { org_id: string; member_id: string },
  installation: Pick<Installation, 'config' | 'egress'>,
): Promise<Reach> {
  const connected = await listConnectedProviders(db, member)
  return {
    connectionsOf: (provider) => connected.filter((one) => one === provider).length,
    ...keysOfInstallation(installation),
    hasModel: hasModels(installation.config) || MODEL_VENDORS.some((vendor) => connected.includes(vendor)),
  }
}

function keysOfInstallation({
  config: { providerKeys, LOAM_SMTP_URL },
  egress,
}: Pick<Installation, 'config' | 'egress'>): Pick<ConfigurationEnvironment, 'hasKey' | 'hasAddress'> {
  return {
    hasKey: (provider) => (provider === 'smtp' ? LOAM_SMTP_URL !== undefined : providerKeys.has(provider)),
    hasAddress: (provider) => egress.baseUrl(provider, '') !== '',
  }
}

/** Lists models that rows could not use (D77). A connection is only looked up, never opened. */
async function listModelProblems(
  { id, inputs }: ActionInstance,
  chain: ChainView,
  { connectionsOf }: ConfigurationEnvironment,
  { models, egress }: Installation,
): Promise<Warning[]> {
  const keys: ProviderKeys = {
    platform: () => null,
    own: async (provider, name) => (connectionsOf(provider, name) > 0 ? createKey('own', {}) : null),
  }
  const readText = (name: string): string | undefined => {
    const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined
    return typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
  }
  const connection = readText('connection')
  if (connection !== undefined && hasToken(connection)) return []
  const fields = Object.entries(chain.links.get(id)?.template?.inputs ?? {}).filter(
    ([, { options }]) => options !== undefined && 'from' in options && options.from === 'models',
  )
  const found = fields.map(async ([name]): Promise<Warning[]> => {
    const model = readText(name)
    if (model === undefined || hasToken(model)) return []
    const answer = await models.find(model, { keys, egress }, connection)
    return answer.ok ? [] : [{ field: `inputs.${name}`, code: 'model_not_offered', message: answer.message }]
  })
  return (await Promise.all(found)).flat()
}
