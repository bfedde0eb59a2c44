import { z } from 'zod'
import type { MadeToken, ProviderKey } from './access.ts'
import type { ProviderContext } from './context.ts'
import { refusalOfFailure, parseReply, type Refusal, refusal } from './reply.ts'

/** The ways to authenticate with a provider. */
export type Auth =
  | { kind: 'none' }
  | { kind: 'bearer' }
  | { kind: 'header'; name: string }
  | { kind: 'query'; name: string }
  /** A key and its secret, each in its own header. A key given as one text is `key:secret`. */
  | { kind: 'pair'; key: string; secret: string }
  /** A bearer token, either given or made from the other fields at `tokenUrl` and kept until it expires. */
  | OAuth

export type OAuth = {
  kind: 'oauth'
  grant: Grant
  /** A function if accounts have their own token URL. */
  tokenUrl: string | ((fields: ProviderKey['fields']) => string)
  /** The way in which the client identifies itself when it asks for a token: in the form (the default), or by HTTP Basic. */
  client?: 'form' | 'basic'
  /** The header for a secret that is an API key and not a token. */
  secretHeader?: string
}

type Grant = 'client_credentials' | 'refresh_token'

const GRANT_FIELDS: Record<Grant, readonly string[]> = {
  client_credentials: ['client_id', 'client_secret'],
  refresh_token: ['client_id', 'client_secret', 'refresh_token'],
}

/** Returns the sets of fields for an authentication. Any one set is enough. */
export function fieldsOf(auth: Auth): readonly (readonly string[])[] {
  if (auth.kind === 'none') return [[]]
  if (auth.kind === 'pair') return [['key', 'secret']]
  return auth.kind === 'oauth' ? [['secret'], GRANT_FIELDS[auth.grant]] : [['secret']]
}

/** The headers and query that authenticate a call. `token` is set if it was made from fields and can be made again. */
export type Authorised = { headers: Record<string, string>; query: Record<string, string>; token?: string }
type Place = { base: string; replaced: boolean }
type Fields = ProviderKey['fields']

type Authorising = {
  placeOf: (context: ProviderContext, key: ProviderKey) => Place
  /** The token that the provider has refused, so that a new one is made. */
  refused: string | undefined
}

const authorisedByAuth = new WeakMap<Auth, WeakMap<Fields, Authorised | Refusal>>()

/**
 * Returns the credentials of a call, and makes a token if they need one. Credentials that are sent as given are the same
 * object for all calls of a key.
 */
export async function authorise(
  context: ProviderContext,
  auth: Auth,
  key: ProviderKey,
  { placeOf, refused }: Authorising,
): Promise<Authorised | Refusal> {
  const { fields } = key
  if (auth.kind === 'oauth' && isMade(fields, auth.grant)) {
    const place = placeOf(context, key)
    const answer = await key.token((current) => makeToken(context, auth, current, place), refused)
    return answer.ok ? { ...bearer(answer.token), token: answer.token } : answer.refusal
  }
  let byFields = authorisedByAuth.get(auth)
  if (byFields === undefined) authorisedByAuth.set(auth, (byFields = new WeakMap()))
  let authorised = byFields.get(fields)
  if (authorised === undefined) byFields.set(fields, (authorised = authoriseBy(auth, fields)))
  return authorised
}

function authoriseBy(auth: Auth, fields: Fields): Authorised | Refusal {
  const { secret } = fields
  if (auth.kind === 'none') return { headers: {}, query: {} }
  if (secret === undefined || secret === '') return refusal('unconfigured', 'the connection has no secret')
  if (auth.kind === 'pair') {
    const [first = '', second] = fields['key'] === undefined ? secret.split(':') : [fields['key'], secret]
    if (second === undefined) return refusal('unconfigured', 'the key is not of the form key:secret')
    return { headers: { [auth.key]: first, [auth.secret]: second }, query: {} }
  }
  if (auth.kind === 'header') return { headers: { [auth.name]: secret }, query: {} }
  if (auth.kind === 'query') return { headers: {}, query: { [auth.name]: secret } }
  if (auth.kind === 'oauth' && auth.secretHeader !== undefined) {
    return { headers: { [auth.secretHeader]: secret }, query: {} }
  }
  return bearer(secret)
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` }, query: {} })

/**
 * Returns true if tokens are made from these fields. An installation's key is one text: `client_id:client_secret` in
 * that case.
 */
function isMade(fields: ProviderKey['fields'], grant: Grant): boolean {
  return GRANT_FIELDS[grant].every((name) => readParts(fields)[name] !== undefined)
}

function readParts(fields: ProviderKey['fields']): Readonly<Record<string, string | undefined>> {
  const { secret } = fields
  if (fields['client_id'] !== undefined || secret === undefined) return fields
  const [client_id, client_secret, refresh_token] = secret.split(':')
  return client_secret === undefined
    ? fields
    : { client_id, client_secret, ...(refresh_token === undefined ? {} : { refresh_token }) }
}

const TokenReply = z.object({
  access_token: z.string().min(1),
  expires_in: z.coerce.number().positive().default(3600),
  refresh_token: z.string().optional(),
  /** The address of the account, which Salesforce and Pipedrive return with their tokens. */
  instance_url: z.url().optional(),
  api_domain: z.url().optional(),
})
const PLACES = ['instance_url', 'api_domain'] as const

const TOKEN_TIMEOUT_MS = 10_000

const CLIENT = new Set(['client_id', 'client_secret'])

function basic(parts: ReturnType<typeof readParts>): string {
  const { client_id = '', client_secret = '' } = parts
  return `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`
}

async function makeToken(
  context: ProviderContext,
  auth: OAuth,
  fields: ProviderKey['fields'],
  place: Place,
): Promise<MadeToken<Refusal>> {
  const parts = readParts(fields)
  const given = GRANT_FIELDS[auth.grant].map((name): [string, string] => [name, parts[name] ?? ''])
  const sent = auth.client === 'basic' ? given.filter(([name]) => !CLIENT.has(name)) : given
  const url = URL.parse(typeof auth.tokenUrl === 'string' ? auth.tokenUrl : auth.tokenUrl(fields))
  if (url === null) {
    return { ok: false, refusal: refusal('unconfigured', 'the base URL in its connection is not a URL') }
  }
  const reply = await context.egress.fetch({
    // A server that replaces a provider also makes its tokens.
    url: place.replaced ? `${place.base}${url.pathname}` : url.href,
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      ...(auth.client === 'basic' ? { authorization: basic(parts) } : {}),
    },
    body: new URLSearchParams([['grant_type', auth.grant], ...sent]).toString(),
    timeoutMs: TOKEN_TIMEOUT_MS,
    signal: context.signal,
  })
  if (!reply.ok) return { ok: false, refusal: refusalOfFailure(reply) }
  // An authorisation server answers unknown credentials with 400 (RFC 6749, 5.2).
  const rules = { statuses: { 400: 'unconfigured' } } as const
  const secrets = given.map(([, value]) => value)
  const json = await reply.json()
  const answer = parseReply(reply, TokenReply, {
    rules,
    secrets: () => secrets,
    now: () => context.now(),
    json,
  })
  if (!answer.ok) return answer
  const { access_token, expires_in, refresh_token, ...places } = answer.body
  const addresses = PLACES.flatMap((name): [string, string][] => {
    const address = places[name]
    return address === undefined || fields[name] !== undefined ? [] : [[name, address]]
  })
  const changed = {
    ...(refresh_token === undefined ? {} : { refresh_token }),
    ...Object.fromEntries(addresses),
  }
  return {
    ok: true,
    token: access_token,
    expiresInSeconds: expires_in,
    ...(Object.keys(changed).length === 0 ? {} : { fields: changed }),
  }
}
