import type { z } from 'zod'
import type { Egress } from '../../lib/egress/egress.ts'
import type { EgressResponse } from '../../lib/egress/response.ts'
import type { ProviderOption } from '../fields/field.ts'
import { cutCredentials } from '../http/secrets.ts'
import type { CallLimits, ProviderKey } from './access.ts'
import { type Auth, authorise, type Authorised, fieldsOf } from './auth.ts'
import type { ProviderContext } from './context.ts'
import { tellMisfit } from './misfits.ts'
import {
  parseReply,
  type Refusal,
  refusal,
  refusalOfFailure,
  type RefusalKind,
  type ReplyMeaning,
} from './reply.ts'

export type ProviderRequest = {
  method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  path: string
  /** What is undefined is left out. */
  query?: Record<string, string | number | boolean | readonly string[] | undefined>
  json?: unknown
  headers?: Record<string, string>
}

export type ProviderSpec = {
  /** As in LOAM_PROVIDER_URL_<NAME>, in lower case. */
  id: string
  name: string
  /** Where its wire format was found, and when: the next reader checks it there. */
  evidence: string
  /** Empty when every installation has its own: without LOAM_PROVIDER_URL_<NAME> it is not configured. */
  baseUrl: string
  /** The field of a connection that holds the base URL, where accounts have their own. */
  baseUrlField?: string
  auth: Auth
  headers?: Record<string, string>
  limits?: CallLimits
  timeoutMs?: number
  /** What a status means with this provider, where that is not what it usually means. */
  statuses?: Readonly<Record<number, RefusalKind>>
  /**
   * The same for what only the body tells, as misses that come as 400 or errors inside a 200; null where it tells nothing.
   * `word` is a text or a number at the top of it, '' when there is none.
   */
  classify?: (reply: { status: number; body: unknown; word: (name: string) => string }) => ReplyMeaning | null
  /** How long to wait when it asks to slow down and does not say for how long. */
  slowDownMs?: number
  /** The words of an error, where its body says them among other things. */
  explain?: (body: unknown) => string | null
  /** The cheapest call that needs a key, for `loam connection test`. */
  probe?: ProviderRequest
  supportsOwnKey?: boolean
  requiresOwnKey?: boolean
  /** Fields that a connection may have beside those of its authentication. */
  fields?: readonly string[]
}

export type ProviderReply<Body> = { ok: true; body: Body } | { ok: false; refusal: Refusal }

/** A service that answers questions, as everybody but its own file sees it. */
export type Provider = {
  id: string
  name: string
  /** Where its wire format was found, and when; empty for what is built in. */
  evidence: string
  auth: Auth
  supportsOwnKey: boolean
  requiresOwnKey: boolean
  /** Answers here: what fails then is what it looks at, never itself. */
  isBuiltIn: boolean
  /** Every installation has one of its own, which it has to say by LOAM_PROVIDER_URL_<NAME>. */
  needsAddress: boolean
  /** Whether it can be called at all here, with a key or without. */
  isPlaced(context: ProviderContext): boolean
  limits(context: { egress: Pick<Egress, 'baseUrl'> }): CallLimits
  probe: ProviderRequest | null
  /** Sets of fields of which a connection needs one, and fields that it may have beside them. */
  fields: { sets: readonly (readonly string[])[]; others: readonly string[] }
  /** Never throws for what the provider does; the body is what the schema makes of it. */
  request<Body>(
    context: ProviderContext,
    key: ProviderKey,
    request: ProviderRequest,
    schema: z.ZodType<Body>,
  ): Promise<ProviderReply<Body>>
}

const TIMEOUT_MS = 15_000
const MAX_BYTES = 5_000_000

/** The one way to write a provider: how it is reached, what it asks for, and what its answers mean. */
export function defineProvider(spec: ProviderSpec): Provider {
  const { id, name, auth, supportsOwnKey = auth.kind !== 'none', requiresOwnKey = false } = spec
  const placeOf = ({ egress }: { egress: Pick<Egress, 'baseUrl'> }, key?: ProviderKey) => {
    const own = key?.fields[spec.baseUrlField ?? '']?.replace(/\/+$/, '')
    const base = egress.baseUrl(id, own ?? spec.baseUrl)
    return { base, replaced: egress.baseUrl(id, '') !== '' }
  }

  async function send(
    context: ProviderContext,
    base: string,
    request: ProviderRequest,
    authorised: Authorised,
  ): Promise<EgressResponse | Refusal> {
    const reply = await context.egress.fetch({
      url: addressOf(base, request, authorised.query),
      method: request.method ?? 'GET',
      headers: {
        accept: 'application/json',
        ...(request.json === undefined ? {} : { 'content-type': 'application/json' }),
        ...spec.headers,
        ...request.headers,
        ...authorised.headers,
      },
      ...(request.json === undefined ? {} : { body: JSON.stringify(request.json) }),
      timeoutMs: spec.timeoutMs ?? TIMEOUT_MS,
      maxBytes: MAX_BYTES,
      signal: context.signal,
    })
    return reply.ok ? reply : refusalOfFailure(reply)
  }

  return {
    id,
    name,
    evidence: spec.evidence,
    auth,
    supportsOwnKey,
    requiresOwnKey,
    isBuiltIn: false,
    needsAddress: spec.baseUrl === '' && spec.baseUrlField === undefined,
    isPlaced: (context) => spec.baseUrlField !== undefined || placeOf(context).base !== '',
    // What stands in a provider's place has limits of its own; it says so by 429.
    limits: (context) => (placeOf(context).replaced ? {} : (spec.limits ?? {})),
    probe: spec.probe ?? null,
    fields: {
      sets: fieldsOf(auth),
      others: [...(spec.baseUrlField === undefined ? [] : [spec.baseUrlField]), ...(spec.fields ?? [])],
    },
    async request(context, key, request, schema) {
      let refused: string | undefined
      for (;;) {
        const authorising = authorise(context, auth, key, placeOf(context, key), refused)
        const authorised = authorising instanceof Promise ? await authorising : authorising
        if ('kind' in authorised) return { ok: false, refusal: authorised }
        // Only now: some tell where an account is when they make its token.
        const { base } = placeOf(context, key)
        if (base === '') {
          const { baseUrlField } = spec
          const missing =
            baseUrlField === undefined
              ? 'has no address'
              : `needs --field ${baseUrlField}=... in its connection`
          return { ok: false, refusal: refusal('unconfigured', `${name} ${missing}`) }
        }
        const reply = await send(context, base, request, authorised)
        if ('kind' in reply) return { ok: false, refusal: reply }
        const secrets = [
          ...Object.values(key.fields),
          ...(authorised.token === undefined ? [] : [authorised.token]),
        ]
        // A token may end before its time: it is made anew once.
        if (reply.status === 401 && authorised.token !== undefined && refused === undefined) {
          refused = authorised.token
          continue
        }
        const credentials = [...listCredentials(key), ...listSent(authorised)]
        const parsed = parseReply(cutCredentials(reply, credentials), schema, {
          rules: spec,
          secrets,
          now: context.now(),
        })
        if (!parsed.ok && parsed.refusal.kind === 'error' && parsed.refusal.misfit !== undefined) {
          tellMisfit({ provider: id, ...parsed.refusal.misfit })
        }
        return parsed
      }
    },
  }
}

/** Fields of a connection that nobody may learn. Others, such as addresses and names, rightly stand in answers. */
const CREDENTIALS = ['secret', 'client_secret', 'refresh_token', 'session_token']

const known = new WeakMap<ProviderKey['fields'], readonly string[]>()

/** Listed once for the calls that are made with them. */
function listCredentials({ fields }: ProviderKey): readonly string[] {
  // One secret may be several, of which the first is a name.
  const listed =
    known.get(fields) ??
    CREDENTIALS.flatMap((name) => fields[name] ?? []).flatMap((secret) => [
      secret,
      ...secret.split(':').slice(1),
    ])
  known.set(fields, listed)
  return listed
}

function listSent({ headers, query, token }: Authorised): string[] {
  const sent = [...Object.values(headers), ...Object.values(query)].map((value) =>
    value.replace(/^(?:bearer|basic|token) /i, ''),
  )
  return token === undefined ? sent : [token, ...sent]
}

/** What answers here, with no third party and no key. */
export function defineBuiltIn(id: string, name: string): Provider {
  return {
    id,
    name,
    evidence: '',
    auth: { kind: 'none' },
    supportsOwnKey: false,
    requiresOwnKey: false,
    isBuiltIn: true,
    needsAddress: false,
    isPlaced: () => true,
    limits: () => ({}),
    probe: null,
    fields: { sets: [[]], others: [] },
    request: async () => ({
      ok: false,
      refusal: refusal('unconfigured', `${name} is not called over a network`),
    }),
  }
}

export function optionOf(
  { id, name, supportsOwnKey, requiresOwnKey, auth, needsAddress }: Provider,
  credits: number,
  missCredits: number,
): ProviderOption {
  const needsKey = auth.kind !== 'none'
  return { id, name, supportsOwnKey, requiresOwnKey, credits, missCredits, needsKey, needsAddress }
}

function addressOf(
  base: string,
  { path, query = {} }: ProviderRequest,
  more: Record<string, string>,
): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries({ ...query, ...more })) {
    if (Array.isArray(value)) for (const one of value) given.append(name, String(one))
    else if (value !== undefined) given.append(name, String(value))
  }
  const search = given.toString()
  return search === '' ? `${base}${path}` : `${base}${path}${path.includes('?') ? '&' : '?'}${search}`
}
