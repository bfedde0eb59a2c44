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

type Vendor = 'anthropic' | 'openai'

/** The vendors. `anthropic/<name>` is called at Anthropic if there is a key for it, and `openai/<name>` at OpenAI. */
const VENDORS: Record<Vendor, { api: ModelAddress['api']; baseUrl: string; keyPlace: string }> = {
  anthropic: { api: 'anthropic', baseUrl: 'https://api.anthropic.com', keyPlace: 'LOAM_ANTHROPIC_API_KEY' },
  openai: {
    api: 'openai_compatible',
    baseUrl: 'https://api.openai.com',
    keyPlace: 'LOAM_PROVIDER_KEY_OPENAI',
  },
}
const ANTHROPIC_MODELS = ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5']
const REFUSALS_KEPT = {
  max: 1000,
  maxSize: 4 * 1024 * 1024,
  sizeCalculation: (_: true, schema: string) => schema.length,
}
/** The longest name of a model. The name is part of the key by which limits are counted. */
const LONGEST_NAME = 200

export const MODEL_VENDORS = Object.keys(VENDORS)

/** Returns true if the installation itself can ask some model. */
export function hasModels(config: Config): boolean {
  if (config.LOAM_MODEL_BASE_URL !== undefined) return true
  return platformKey(config, 'anthropic') !== undefined || platformKey(config, 'openai') !== undefined
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
  const serverUrls = [serverUrl, ...Object.keys(VENDORS).map((vendor) => config.providerUrls.get(vendor))]
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
      const slash = name.indexOf('/')
      const prefix = name.slice(0, Math.max(0, slash))
      const vendor = isVendor(prefix) ? prefix : null
      const id = vendor === null ? name : name.slice(slash + 1)
      const own =
        vendor !== null || connection !== undefined || serverUrl === undefined
          ? await lent.keys.own(vendor ?? 'openai', connection)
          : null
      if (own !== null) return atVendor({ name, id, vendor: vendor ?? 'openai' }, own, lent.egress)
      if (connection !== undefined)
        return refuse(
          `there is no connection "${connection}" to ${vendor ?? 'openai'}; add it, or clear connection`,
        )
      const isOffered = (names: string[]) => names.length === 0 || names.includes(name)
      if (vendor !== null && platformKey(config, vendor) !== undefined) {
        if (!isOffered(offered.filter((known) => known.startsWith(`${vendor}/`)))) return notOffered(name)
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
  const limits = config.LOAM_MODEL_CONCURRENCY === 0 ? {} : { concurrent: config.LOAM_MODEL_CONCURRENCY }
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
        limits: key.own ? {} : limits,
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
    const { api, baseUrl, keyPlace } = VENDORS[vendor]
    const place = {
      api,
      id,
      baseUrl: versioned(config.providerUrls.get(vendor) ?? baseUrl),
      egress,
      limitName: vendor === 'openai' ? ('max_completion_tokens' as const) : ('max_tokens' as const),
    }
    if (own === null) {
      const key = { id: 'platform', own: false, place: keyPlace }
      return describe(name, { ...place, apiKey: platformKey(config, vendor) }, key)
    }
    const { secret: apiKey, base_url: connectionUrl } = own.fields
    const key = { id: own.id, own: true, place: `the connection to ${vendor}` }
    if (connectionUrl === undefined) return describe(name, { ...place, apiKey }, key)
    if (!URL.canParse(connectionUrl)) return refuse(`the base_url of the connection to ${vendor} is no URL`)
    // A user gave this address, so it is called with the client for users' addresses.
    const connected = { baseUrl: trimEnd(connectionUrl, '/'), limitName: 'max_tokens' as const }
    return describe(name, { ...place, ...connected, apiKey, egress: lent }, key)
  }
}

const refuse = (message: string): FoundModel => ({ ok: false, message })

const isVendor = (prefix: string): prefix is Vendor => Object.hasOwn(VENDORS, prefix)

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

function describeUnconfigured(name: string, vendor: Vendor | null): string {
  const ways = [
    ...(vendor === null ? [] : [`set ${VENDORS[vendor].keyPlace}`, `add a connection to ${vendor}`]),
    'set LOAM_MODEL_BASE_URL to an OpenAI-compatible server',
  ]
  return `the model "${name}" cannot be reached: ${ways.join(', or ')}`
}

function platformKey(config: Config, vendor: Vendor): string | undefined {
  const named = vendor === 'anthropic' ? config.LOAM_ANTHROPIC_API_KEY : undefined
  return named ?? config.providerKeys.get(vendor)
}

function namesVendor(names: readonly string[], vendor: Vendor): boolean {
  return names.some((name) => name.startsWith(`${vendor}/`))
}

/** Adds /v1 to a URL without a path, because these vendors have their API there. */
function versioned(url: string): string {
  return new URL(url).pathname === '/' ? `${trimEnd(url, '/')}/v1` : url
}

function allowOrigin(url: string | undefined): AllowEntry[] {
  if (url === undefined) return []
  const { hostname, port, protocol } = new URL(url)
  return parseEgressAllow(`${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`).entries
}
