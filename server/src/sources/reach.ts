import { setTimeout as sleep } from 'node:timers/promises'
import type { z } from 'zod'
import type { FieldError } from '#contract/errors.ts'
import type { Model } from '../catalog/models/models.ts'
import {
  createKey,
  type ProviderGate,
  type ProviderKey,
  type ProviderKeys,
} from '../catalog/provider/access.ts'
import type { Ask } from '../catalog/provider/adapter.ts'
import type { Provider, ProviderRequest } from '../catalog/provider/provider.ts'
import type { ProviderReply } from '../catalog/provider/reply.ts'
import type { EnvValues } from '../lib/security/env-values.ts'
import type { Source } from './define.ts'
import type { Pull, SourceContext } from './pull.ts'
import type { Lookup, Receiver } from './receive.ts'

/** The services for reaching sources, in the API and in workers. */
export type SourceServices = SourceContext & { gate: ProviderGate }

/** A pull with the key that it uses. Only the platform's key costs credits (D22). */
export type Reached = {
  pull: Pull
  key: ProviderKey
  isOwn: boolean
  env: Environment
  /** The model that reads the pages, or null if the body names none. */
  model: Model | null
}

/** Returns true if the installation provides the key or the model. Own keys and keyless providers cost it nothing. */
export function usesInstallationKey({ key, isOwn, model }: Reached): boolean {
  return !isOwn && (key !== NO_KEY || model !== null)
}

type Environment = () => Promise<EnvValues>
/** The provider keys, and the environment variables that a source may refer to, if there are any. */
export type SourceKeys = ProviderKeys & { env?: Environment }

/** The one key of all keyless calls. It is shared, because its limits are. */
export const NO_KEY = createKey('none', {})

type Wanted = { provider: string | null; connection: string | null; body: unknown }

/** Returns the first pull whose provider is connected, or an error that says what to connect and how. */
export async function reachSource(
  source: Source,
  { provider: wanted, connection, body }: Wanted,
  keys: SourceKeys,
  context: SourceContext,
): Promise<Reached | FieldError> {
  const env = keys.env ?? (async () => new Map<string, string>())
  const pulls = source.pulls.filter(({ provider }) => wanted === null || provider.id === wanted)
  for (const pull of pulls) {
    const { provider } = pull
    const named = pull.model?.nameIn(body)
    if (named !== undefined) {
      // With a model, `connection_id` names a connection to the model's vendor.
      const found = await context.models.find(
        named,
        { keys, egress: context.egress },
        connection ?? undefined,
      )
      if (!found.ok) return { field: 'model', message: found.message }
      return { pull, key: NO_KEY, isOwn: found.model.ownKey, env, model: found.model }
    }
    const own = provider.supportsOwnKey ? await keys.own(provider.id, connection ?? undefined) : null
    if (own !== null) return { pull, key: own, isOwn: true, env, model: null }
    if (connection !== null) continue
    if (provider.auth.kind === 'none' && provider.isPlaced(context)) {
      return { pull, key: NO_KEY, isOwn: false, env, model: null }
    }
    const platform = provider.requiresOwnKey ? null : keys.platform(provider.id)
    if (platform !== null) return { pull, key: platform, isOwn: false, env, model: null }
  }
  return notConnected(source, pulls, connection)
}

export function isReached(answer: Reached | FieldError): answer is Reached {
  return 'pull' in answer
}

/** A lookup with the key that it uses. `isFree` is true for lookups that need no key or use an own key. */
export type ReachedLookup = { lookup: Lookup; key: ProviderKey; isFree: boolean }

/**
 * Returns every lookup whose provider is connected, in their order, or an error if the named connection does not exist.
 */
export async function reachLookups(
  { lookups }: Receiver,
  connection: string | null,
  keys: ProviderKeys,
): Promise<ReachedLookup[] | FieldError> {
  const reached: ReachedLookup[] = []
  let isNamed = connection === null
  for (const lookup of lookups) {
    const { provider } = lookup
    const own = provider.supportsOwnKey ? await keys.own(provider.id, connection ?? undefined) : null
    const platform = provider.auth.kind === 'none' ? NO_KEY : keys.platform(provider.id)
    isNamed ||= own !== null
    if (own !== null) reached.push({ lookup, key: own, isFree: true })
    else if (platform !== null) reached.push({ lookup, key: platform, isFree: lookup.price === 0 })
  }
  if (isNamed) return reached
  const names = lookups.flatMap(({ provider }) => (provider.supportsOwnKey ? [provider.name] : []))
  return {
    field: 'connection_id',
    message: noConnection(connection ?? '', names.join(' or ') || 'any provider'),
  }
}

const noConnection = (connection: string, names: string) =>
  `there is no connection "${connection.slice(0, 100)}" to ${names}; \`loam connection list\` shows the existing ones`

function notConnected(source: Source, pulls: readonly Pull[], connection: string | null): FieldError {
  const names = pulls.map(({ provider }) => provider.name).join(' or ')
  const ways = pulls.map(({ provider }) => howToConnect(provider)).join('; or ')
  const message =
    connection === null
      ? `${source.slug} needs ${names}, which is not connected; ${ways}`
      : noConnection(connection, names)
  return { field: 'connection_id', message }
}

export function howToConnect({ id, auth, requiresOwnKey }: Provider): string {
  const name = id.toUpperCase()
  if (auth.kind === 'none') return `set LOAM_PROVIDER_URL_${name}`
  const own = `run \`loam connection add --provider ${id}\``
  return requiresOwnKey ? own : `${own} or set LOAM_PROVIDER_KEY_${name}`
}

/** The maximum time to wait in the queue of the gate. The pull is postponed if the wait is longer. */
export const SHORT_WAIT_MS = 5000

/** Makes one call through the gate that all processes share. Returns a refusal if the gate does not admit the call. */
export async function callProvider<Body>(
  provider: Provider,
  key: ProviderKey,
  { gate, ...context }: SourceServices,
  { request, schema }: { request: ProviderRequest; schema: z.ZodType<Body> },
): Promise<ProviderReply<Body>> {
  const { signal } = context
  const enter = (slot?: number) =>
    gate.enter(`${provider.id} ${key.id}`, provider.limits(context), { signal }, slot)
  let entered = await enter()
  if (entered.kind === 'busy' && entered.afterMs <= SHORT_WAIT_MS) {
    await sleep(entered.afterMs, undefined, { signal }).catch(() => undefined)
    entered = await enter(entered.slot)
  }
  if (entered.kind !== 'entered') {
    const message = entered.kind === 'busy' ? 'its rate limit is reached' : 'it failed several times in a row'
    return { ok: false, refusal: { kind: 'rate_limited', message, afterMs: entered.afterMs } }
  }
  let worked = false
  try {
    const answer = await provider.request(context, key, request, schema)
    worked = answer.ok || answer.refusal.kind !== 'error' || !answer.refusal.transient
    return answer
  } finally {
    entered.leave(worked ? 'worked' : 'broken')
  }
}

export function askThrough(provider: Provider, key: ProviderKey, services: SourceServices): Ask {
  return async (request, schema, read) => {
    const answer = await callProvider(provider, key, services, { request, schema })
    return answer.ok ? read(answer.body) : answer.refusal
  }
}
