import type { Config } from '../../lib/config/config.ts'
import { trimEnd } from '../../lib/plain-text.ts'
import type { ModelAddress } from './model-client.ts'
import type { LimitName } from './parameters.ts'

/** A service with models, which are named `<id>/<name>`. */
export type Vendor = {
  id: string
  api: ModelAddress['api']
  /** Empty if only the operator knows it. */
  baseUrl: string
  limitName: LimitName
  /** Set if it can be called without a key. */
  keyless: boolean
  /** The setting that holds the installation's key. */
  keyPlace: string
}

const define = (id: string, baseUrl: string, more: Partial<Vendor> = {}): [string, Vendor] => [
  id,
  {
    id,
    api: 'openai_compatible',
    baseUrl,
    limitName: 'max_tokens',
    keyless: false,
    keyPlace: `LOAM_PROVIDER_KEY_${id.toUpperCase()}`,
    ...more,
  },
]

/** The vendor of names without one. */
export const OPENAI = define('openai', 'https://api.openai.com', { limitName: 'max_completion_tokens' })[1]

const VENDORS: ReadonlyMap<string, Vendor> = new Map([
  define('anthropic', 'https://api.anthropic.com', {
    api: 'anthropic',
    keyPlace: 'LOAM_ANTHROPIC_API_KEY',
  }),
  ['openai', OPENAI] as const,
  define('gemini', 'https://generativelanguage.googleapis.com/v1beta/openai'),
  define('openrouter', 'https://openrouter.ai/api/v1'),
  define('groq', 'https://api.groq.com/openai/v1'),
  define('mistral', 'https://api.mistral.ai/v1'),
  define('deepseek', 'https://api.deepseek.com/v1'),
  define('xai', 'https://api.x.ai/v1'),
  define('ollama', '', { keyless: true }),
])

/** The vendors that an organisation can have a connection to. */
export const MODEL_VENDORS: readonly string[] = [...VENDORS.values()]
  .filter(({ keyless }) => !keyless)
  .map(({ id }) => id)

/**
 * Returns the vendor of a model's name: a known one, or a server of the operator, which LOAM_MODELS and
 * LOAM_PROVIDER_URL_<NAME> name.
 */
export function findVendor(name: string, config: Config): Vendor | null {
  const slash = name.indexOf('/')
  if (slash <= 0) return null
  const id = name.slice(0, slash)
  const known = VENDORS.get(id)
  if (known !== undefined) return known
  const isOwn = config.providerUrls.has(id) && namesVendor(config.LOAM_MODELS, id)
  return isOwn ? define(id, '', { keyless: true })[1] : null
}

/** Returns all vendors that this installation can call. */
export function listConfigured(config: Config): Vendor[] {
  const named = config.LOAM_MODELS.flatMap((name) => findVendor(name, config) ?? [])
  const all = new Map([...VENDORS, ...named.map((vendor) => [vendor.id, vendor] as const)])
  return [...all.values()].filter((vendor) => isConfigured(vendor, config))
}

export function isConfigured({ id, keyless }: Vendor, config: Config): boolean {
  return platformKey(config, id) !== undefined || (keyless && config.providerUrls.has(id))
}

/** Returns the address of a vendor's API: the operator's, or the usual one. Empty if there is none. */
export function urlOf({ id, baseUrl }: Vendor, config: Config): string {
  const url = config.providerUrls.get(id) ?? baseUrl
  return url === '' ? '' : versioned(url)
}

export function platformKey(config: Config, vendor: string): string | undefined {
  const named = vendor === 'anthropic' ? config.LOAM_ANTHROPIC_API_KEY : undefined
  return named ?? config.providerKeys.get(vendor)
}

export function namesVendor(names: readonly string[], vendor: string): boolean {
  return names.some((name) => name.startsWith(`${vendor}/`))
}

/** Adds /v1 to a URL without a path, because these vendors have their API there. */
function versioned(url: string): string {
  return new URL(url).pathname === '/' ? `${trimEnd(url, '/')}/v1` : url
}
