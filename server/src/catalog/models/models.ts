import { LRUCache } from 'lru-cache'
import type { Config } from '../../lib/config/config.ts'
import { type AllowEntry, parseEgressAllow } from '../../lib/egress/addresses.ts'
import { createEgress, type Egress } from '../../lib/egress/egress.ts'
import { egressSettings } from '../../lib/egress/settings.ts'
import { trimEnd } from '../../lib/plain-text.ts'
import type { CallLimits, ProviderKey, ProviderKeys } from '../provider/access.ts'
import { printSchema } from './answer-schema.ts'
import { createModelClients, type ModelAddress, type ModelClient } from './model-client.ts'
import { ANTHROPIC_LIMITS, createParameters, type LimitName, type ModelParameters } from './parameters.ts'
import {
  findVendor,
  isConfigured,
  listConfigured,
  namesVendor,
  OPENAI,
  platformKey,
  urlOf,
  type Vendor,
  MODEL_VENDORS,
} from './vendors.ts'

/** A model that can be asked. */
export type Model = {
  /** The name that the caller uses. */
  name: string
  api: ModelAddress['api']
  /** The key by which limits are counted. */
  bucket: string
  limits: CallLimits
  /** Set if the model is called with a connection of the organisation. Such calls cost no credits. */
  ownKey: boolean
  /** The factor on the credits of an action that asks this model. */
  priceFactor: number
  apiKey: string | undefined
  /** The setting or connection that holds the key, for messages about a wrong key. */
  keyPlace: string
  /** The schemas that the server refused as response_format, so that not every row tries twice. */
  refused: RefusedSchemas
  address: ModelAddress
  connect(): Promise<ModelClient>
}

export type RefusedSchemas = { has(schema: object): boolean; add(schema: object): void }

export type FoundModel = { ok: true; model: Model } | { ok: false; message: string }

/** The models that this installation and its organisations can ask. */
export type Models = {
  find(name: string, lent: { keys: ProviderKeys; egress: Egress }, connection?: string): Promise<FoundModel>
  close(): Promise<void>
}

const ANTHROPIC_MODELS = ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5']
const REFUSALS_KEPT = {
  max: 1000,
  maxSize: 4 * 1024 * 1024,
  sizeCalculation: (_: true, schema: string) => schema.length,
}
/** The longest name of a model. The name is part of the key by which limits are counted. */
const LONGEST_NAME = 200

/** Returns true if the installation itself can ask some model. */
export function hasModels(config: Config): boolean {
  return config.LOAM_MODEL_BASE_URL !== undefined || listConfigured(config).length > 0
}

/** Returns the names that callers can choose from. */
export function offeredModels(config: Config): string[] {
  const named = config.LOAM_MODELS
  const anthropic = platformKey(config, 'anthropic') !== undefined && !namesVendor(named, 'anthropic')
  return [...named, ...(anthropic ? ANTHROPIC_MODELS.map((name) => `anthropic/${name}`) : [])]
}

export function createModels(config: Config): Models {
  const offered = config.LOAM_MODELS
  const serverUrl = config.LOAM_MODEL_BASE_URL
  // An organisation's own key is used at the operator's address, too.
  const vendors = [...MODEL_VENDORS, ...listConfigured(config).map(({ id }) => id)]
  const serverUrls = [serverUrl, ...vendors.map((id) => config.providerUrls.get(id))]
  const settings = egressSettings(config)
  // The operator chose these addresses, so they may be private. URLs of users are never called with this client.
  const egress = createEgress({ ...settings, allow: [...settings.allow, ...serverUrls.flatMap(allowOrigin)] })
  const describe = createDescribing(config)
  const atVendor = createVendorModels(config, egress, describe)
  const notOffered = (name: string) =>
    refuse(`the model "${name}" is not offered here; choose one of: ${offeredModels(config).join(', ')}`)

  return {
    async find(name, lent, connection) {
      if (name.length > LONGEST_NAME) return refuse(`no model has a name of ${name.length} characters`)
      const vendor = findVendor(name, config)
      const id = vendor === null ? name : name.slice(vendor.id.length + 1)
      const own =
        vendor !== null || connection !== undefined || serverUrl === undefined
          ? await lent.keys.own(vendor?.id ?? 'openai', connection)
          : null
      if (own !== null) return atVendor({ name, id, vendor: vendor ?? OPENAI }, own, lent.egress)
      if (connection !== undefined)
        return refuse(
          `there is no connection "${connection}" to ${vendor?.id ?? 'openai'}; add it, or clear connection`,
        )
      const isOffered = (names: string[]) => names.length === 0 || names.includes(name)
      if (vendor !== null && isConfigured(vendor, config)) {
        if (!isOffered(offered.filter((known) => known.startsWith(`${vendor.id}/`)))) return notOffered(name)
        return atVendor({ name, id, vendor }, null, lent.egress)
      }
      if (serverUrl === undefined) return refuse(describeUnconfigured(name, vendor))
      if (!isOffered(offered)) return notOffered(name)
      return describe(
        name,
        {
          api: 'openai_compatible',
          id: name,
          baseUrl: serverUrl,
          apiKey: config.LOAM_MODEL_API_KEY,
          egress,
          limitName: 'max_tokens',
        },
        { id: 'platform', own: false, place: 'LOAM_MODEL_API_KEY' },
      )
    },
    close: () => egress.close(),
  }
}

type Describe = ReturnType<typeof createDescribing>

/** Returns a function that describes a model that was found. */
function createDescribing(config: Config) {
  const timeoutMs = config.LOAM_MODEL_TIMEOUT_SECONDS * 1000
  const refusedBy = createRefusals()
  const parametersOf = createKnownParameters()
  const clientOf = createModelClients()

  return (
    name: string,
    { limitName, ...at }: Omit<ModelAddress, 'timeoutMs' | 'parameters'> & { limitName: LimitName },
    key: { id: string; own: boolean; place: string },
  ): FoundModel => {
    const limitNames = at.api === 'anthropic' ? ANTHROPIC_LIMITS : otherLast(limitName)
    const parameters = parametersOf(`${key.id} ${at.baseUrl} ${name}`, limitNames)
    const address: ModelAddress = { ...at, timeoutMs, parameters }
    return {
      ok: true,
      model: {
        name,
        address,
        api: at.api,
        bucket: `model:${key.id}:${name}`,
        limits: key.own ? {} : limitsOf(config, name),
        priceFactor: key.own ? 1 : (settingOf(config.LOAM_MODEL_PRICES, name) ?? 1),
        ownKey: key.own,
        apiKey: at.apiKey,
        keyPlace: key.place,
        refused: refusedBy(`${key.id} ${name}`),
        connect: () => clientOf(address),
      },
    }
  }
}

type VendorModel = { name: string; id: string; vendor: Vendor }

/** Returns a function that describes a model of a vendor, with a key of the organisation or of the installation. */
function createVendorModels(config: Config, egress: Egress, describe: Describe) {
  return ({ name, id, vendor }: VendorModel, own: ProviderKey | null, lent: Egress): FoundModel => {
    const { api, keyPlace, limitName } = vendor
    const place = { api, id, baseUrl: urlOf(vendor, config), egress, limitName }
    if (own === null) {
      const key = { id: 'platform', own: false, place: keyPlace }
      return describe(name, { ...place, apiKey: platformKey(config, vendor.id) }, key)
    }
    const { secret: apiKey, base_url: connectionUrl } = own.fields
    const key = { id: own.id, own: true, place: `the connection to ${vendor.id}` }
    if (connectionUrl === undefined) return describe(name, { ...place, apiKey }, key)
    if (!URL.canParse(connectionUrl))
      return refuse(`the base_url of the connection to ${vendor.id} is no URL`)
    // A user gave this address, so it is called with the client for users' addresses.
    const connected = { baseUrl: trimEnd(connectionUrl, '/'), limitName: 'max_tokens' as const }
    return describe(name, { ...place, ...connected, apiKey, egress: lent }, key)
  }
}

const refuse = (message: string): FoundModel => ({ ok: false, message })

/** Returns the value of a setting for a model: of its name, or of its vendor. */
function settingOf(values: ReadonlyMap<string, number>, name: string): number | undefined {
  return values.get(name) ?? values.get(name.slice(0, Math.max(0, name.indexOf('/'))))
}

function limitsOf(config: Config, name: string): CallLimits {
  const concurrent = settingOf(config.LOAM_MODEL_LIMITS, name) ?? config.LOAM_MODEL_CONCURRENCY
  return concurrent === 0 ? {} : { concurrent }
}

/** Returns a function that keeps what was learned of a model for its next calls. */
function createKnownParameters(): (model: string, limitNames: readonly LimitName[]) => ModelParameters {
  const known = new LRUCache<string, ModelParameters>({ max: REFUSALS_KEPT.max })
  return (model, limitNames) => {
    const parameters = known.get(model) ?? createParameters(limitNames)
    known.set(model, parameters)
    return parameters
  }
}

const otherLast = (first: LimitName): readonly LimitName[] =>
  first === 'max_tokens' ? ['max_tokens', 'max_completion_tokens'] : ['max_completion_tokens', 'max_tokens']

function createRefusals(): (model: string) => RefusedSchemas {
  const refusals = new LRUCache<string, true>(REFUSALS_KEPT)
  return (model) => ({
    has: (schema) => refusals.size > 0 && refusals.has(`${model} ${printSchema(schema)}`),
    add(schema) {
      refusals.set(`${model} ${printSchema(schema)}`, true)
    },
  })
}

const waysTo = ({ id, keyless, keyPlace }: Vendor): string[] =>
  keyless ? [`set LOAM_PROVIDER_URL_${id.toUpperCase()}`] : [`set ${keyPlace}`, `add a connection to ${id}`]

function describeUnconfigured(name: string, vendor: Vendor | null): string {
  const ways = [
    ...(vendor === null ? [] : waysTo(vendor)),
    'set LOAM_MODEL_BASE_URL to an OpenAI-compatible server',
  ]
  return `the model "${name}" cannot be reached: ${ways.join(', or ')}`
}

function allowOrigin(url: string | undefined): AllowEntry[] {
  if (url === undefined) return []
  const { hostname, port, protocol } = new URL(url)
  return parseEgressAllow(`${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`).entries
}

/** Returns the credits of an action that asks the model, in thousandths at most. */
export function creditsOf({ ownKey, priceFactor }: Model, price: number): number {
  return ownKey ? 0 : Math.round(price * priceFactor * 1000) / 1000
}
