import type { z } from 'zod'
import type { Egress } from '../../lib/egress/egress.ts'
import type { EgressRequest } from '../../lib/egress/request.ts'
import { trimEnd } from '../../lib/plain-text.ts'
import type { ProviderOption } from '../fields/field.ts'
import { type Credential, cutCredentials, toCredentials } from '../http/secrets.ts'
import type { CallLimits, ProviderKey } from './access.ts'
import type { AnnouncedEnd } from './announced-end.ts'
import { type Auth, authorise, type Authorised, fieldsOf } from './auth.ts'
import type { ProviderContext } from './context.ts'
import { encodeForm } from './encode-form.ts'
import { tellMisfit } from './misfits.ts'
import { parseReply, type ProviderReply, refusal, refusalOfFailure, type ReplyRules } from './reply.ts'

export type ProviderRequest = {
  method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  path: string
  /** The query. Undefined values are left out. */
  query?: Record<string, string | number | boolean | readonly string[] | undefined>
  json?: unknown
  headers?: Record<string, string>
}

export type ProviderSpec = ReplyRules & {
  /** The name in LOAM_PROVIDER_URL_<NAME>, in lower case. */
  id: string
  name: string
  /** The place and date where the wire format was found, so that the next reader can check it there. */
  evidence: string
  /** Set if the provider has announced the day on which the version that is called here ends. */
  ends?: AnnouncedEnd
  /** Empty if every installation has its own: the provider is not configured until LOAM_PROVIDER_URL_<NAME> is set. */
  baseUrl: string
  /** The field of a connection that holds the base URL, if accounts have their own. */
  baseUrlField?: string
  auth: Auth
  headers?: Record<string, string>
  /** Set if the service wants calls to name the program and the contact of its operator. */
  namesOperator?: true
  limits?: CallLimits
  timeoutMs?: number
  /** The cheapest call that needs a key, for `loam connection test`. */
  probe?: ProviderRequest
  supportsOwnKey?: boolean
  requiresOwnKey?: boolean
  /** Further fields that a connection may have. */
  fields?: readonly string[]
}

/** A service that answers questions, as the rest of the program sees it. */
export type Provider = {
  id: string
  name: string
  /** The place and date where the wire format was found; empty for built-in ones. */
  evidence: string
  ends: AnnouncedEnd | null
  auth: Auth
  supportsOwnKey: boolean
  requiresOwnKey: boolean
  /** Set if the provider runs in this process: its failures are those of the sites that it reads, never its own. */
  isBuiltIn: boolean
  /** Set if every installation has its own server, named by LOAM_PROVIDER_URL_<NAME>. */
  needsAddress: boolean
  /** Returns true if the provider can be called here at all, with a key or without. */
  isPlaced(context: ProviderContext): boolean
  limits(context: { egress: Pick<Egress, 'baseUrl'> }): CallLimits
  probe: ProviderRequest | null
  /** Sets of fields, one of which a connection needs, and further fields that it may have. */
  fields: { sets: readonly (readonly string[])[]; others: readonly string[] }
  /**
   * Sends a request and returns the reply with its body parsed by the schema. Never throws because of what the provider
   * does.
   */
  request<Body>(
    context: ProviderContext,
    key: ProviderKey,
    request: ProviderRequest,
    schema: z.ZodType<Body>,
  ): Promise<ProviderReply<Body>>
}

const TIMEOUT_MS = 15_000
/** The version of this program, as services see it. */
const VERSION = '0.1'
const MAX_BYTES = 5_000_000
const NO_LIMITS: CallLimits = {}

/**
 * The parts of every call of a key: the headers of calls without and with a body, and the credentials that no answer
 * may repeat.
 */
type Sent = {
  plain: Readonly<Record<string, string>>
  json: Readonly<Record<string, string>>
  credentials: readonly Credential[]
}

/**
 * Defines a provider; there is no other way. The spec says how it is reached, what it needs and what its answers mean.
 */
export function defineProvider(spec: ProviderSpec): Provider {
  const { id, name, auth, supportsOwnKey = auth.kind !== 'none', requiresOwnKey = false, baseUrlField } = spec
  const placing = createPlacing(spec)
  return {
    id,
    name,
    evidence: spec.evidence,
    ends: spec.ends ?? null,
    auth,
    supportsOwnKey,
    requiresOwnKey,
    isBuiltIn: false,
    needsAddress: spec.baseUrl === '' && baseUrlField === undefined,
    isPlaced: (context) => baseUrlField !== undefined || placing.findBase(context) !== '',
    // A server that replaces a provider has limits of its own and reports them by 429.
    limits: (context) => (placing.isReplaced(context) ? NO_LIMITS : (spec.limits ?? NO_LIMITS)),
    probe: spec.probe ?? null,
    fields: {
      sets: fieldsOf(auth),
      others: [...(baseUrlField === undefined ? [] : [baseUrlField]), ...(spec.fields ?? [])],
    },
    request: createRequest(spec, placing),
  }
}

type Place = { egress: Pick<Egress, 'baseUrl'> }
type Placing = ReturnType<typeof createPlacing>

/** Finds the address of a provider. */
function createPlacing({ id, baseUrl, baseUrlField }: ProviderSpec) {
  const findBase = ({ egress }: Place, key?: ProviderKey): string => {
    const own = baseUrlField === undefined ? undefined : key?.fields[baseUrlField]
    return egress.baseUrl(id, own === undefined ? baseUrl : trimEnd(own, '/'))
  }
  /** Returns true if the operator has set another server in place of the provider. */
  const isReplaced = ({ egress }: Place): boolean => egress.baseUrl(id, '') !== ''
  const placeOf = (context: Place, key: ProviderKey) => ({
    base: findBase(context, key),
    replaced: isReplaced(context),
  })
  return { findBase, isReplaced, placeOf }
}

function createRequest(spec: ProviderSpec, { findBase, placeOf }: Placing): Provider['request'] {
  const { id, name, auth, baseUrlField, namesOperator, timeoutMs = TIMEOUT_MS } = spec
  const partsWith = createSentParts(spec)

  return async (context, key, request, schema) => {
    let refused: string | undefined
    for (;;) {
      const authorised = await authorise(context, auth, key, { placeOf, refused })
      if ('kind' in authorised) return { ok: false, refusal: authorised }
      // Only after authorising, because some providers return the account's address with the token.
      const base = findBase(context, key)
      if (base === '') {
        const missing =
          baseUrlField === undefined
            ? 'has no address'
            : `needs --field ${baseUrlField}=... in its connection`
        return { ok: false, refusal: refusal('unconfigured', `${name} ${missing}`) }
      }
      const sending = partsWith(authorised, key)
      const call = toCall(authorised, sending, base, request)
      if (namesOperator === true) {
        call.headers = { ...call.headers, 'user-agent': printAgent(context.egress.contact) }
      }
      call.timeoutMs = timeoutMs
      call.signal = context.callOff ?? context.signal
      const reply = await context.egress.fetch(call)
      if (!reply.ok) return { ok: false, refusal: refusalOfFailure(reply) }
      const { token } = authorised
      // A token may end before its time, so a new one is made once.
      if (reply.status === 401 && token !== undefined && refused === undefined) {
        refused = token
        continue
      }
      const safe = await cutCredentials(reply, sending.credentials)
      const parsed = parseReply(safe, schema, {
        json: await safe.json(),
        rules: spec,
        secrets: () => [...Object.values(key.fields), ...(token === undefined ? [] : [token])],
        now: () => context.now(),
      })
      if (!parsed.ok && parsed.refusal.kind === 'error' && parsed.refusal.misfit !== undefined) {
        tellMisfit({ provider: id, ...parsed.refusal.misfit })
      }
      return parsed
    }
  }
}

const printAgent = (contact: string | undefined): string =>
  contact === undefined ? `Loam/${VERSION}` : `Loam/${VERSION} (${contact})`

/** Returns a function that makes the parts of every call of a key, and keeps them. */
function createSentParts(spec: Pick<ProviderSpec, 'headers'>) {
  const sent = new WeakMap<Authorised, Sent>()
  return (authorised: Authorised, key: ProviderKey): Sent => {
    const known = sent.get(authorised)
    if (known !== undefined) return known
    const plain = { accept: 'application/json', ...spec.headers, ...authorised.headers }
    const made = {
      plain: Object.freeze(plain),
      json: Object.freeze({ 'content-type': 'application/json', ...plain }),
      credentials: toCredentials([...listCredentials(key), ...listSent(authorised)]),
    }
    // A token is a different one the next time.
    if (authorised.token === undefined) sent.set(authorised, made)
    return made
  }
}

function toCall(
  { query: more, headers: own }: Authorised,
  { plain, json }: Sent,
  base: string,
  request: ProviderRequest,
): EgressRequest {
  const usual = request.json === undefined ? plain : json
  const call: EgressRequest = {
    url: printAddress(base, request, more),
    method: request.method ?? 'GET',
    headers: request.headers === undefined ? usual : { ...usual, ...request.headers, ...own },
    maxBytes: MAX_BYTES,
  }
  if (request.json !== undefined) call.body = JSON.stringify(request.json)
  return call
}

/** The secret fields of a connection. Others, such as addresses and names, may appear in answers. */
const CREDENTIALS = ['secret', 'client_secret', 'refresh_token', 'session_token']

function listCredentials({ fields }: ProviderKey): readonly string[] {
  // One secret may consist of several parts, the first of which is a name.
  return CREDENTIALS.flatMap((name) => fields[name] ?? []).flatMap((secret) => [
    secret,
    ...secret.split(':').slice(1),
  ])
}

function listSent({ headers, query, token }: Authorised): string[] {
  const sent = [...Object.values(headers), ...Object.values(query)].map((value) =>
    value.replace(/^(?:bearer|basic|token) /i, ''),
  )
  return token === undefined ? sent : [token, ...sent]
}

/** Defines a source that runs in this process, without a third party or a key. */
export function defineBuiltIn(id: string, name: string): Provider {
  return {
    id,
    name,
    evidence: '',
    ends: null,
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

function printAddress(
  base: string,
  { path, query = {} }: ProviderRequest,
  more: Record<string, string>,
): string {
  const all = { ...query, ...more }
  let address = `${base}${path}`
  let mark = path.includes('?') ? '&' : '?'
  const add = (name: string, value: string) => {
    address += `${mark}${encodeForm(name)}=${encodeForm(value)}`
    mark = '&'
  }
  for (const name in all) {
    const value = all[name]
    if (Array.isArray(value)) for (const one of value) add(name, String(one))
    else if (value !== undefined) add(name, String(value))
  }
  return address
}
