import { z } from 'zod'
import type { MadeToken, ProviderKey } from './access.ts'
import type { ProviderContext } from './context.ts'
import { refusalOfFailure, parseReply, type Refusal, refusal } from './reply.ts'

/** How a provider learns who asks. */
export type Auth =
  | { kind: 'none' }
  | { kind: 'bearer' }
  | { kind: 'header'; name: string }
  | { kind: 'query'; name: string }
  /** A key and its secret, each in a header of its own; `key:secret` where there is one text. */
  | { kind: 'pair'; key: string; secret: string }
  /** A bearer token, given as it is or made of the other fields at `tokenUrl` and kept until it expires. */
  | OAuth

export type OAuth = {
  kind: 'oauth'
  grant: Grant
  /** A function where accounts have their own. */
  tokenUrl: string | ((fields: ProviderKey['fields']) => string)
  /** How the client says who it is when it asks for a token: in the form, or by HTTP Basic. Default in the form. */
  client?: 'form' | 'basic'
  /** The header of a secret that is no token but a key of the API. */
  secretHeader?: string
}

type Grant = 'client_credentials' | 'refresh_token'

const MADE_OF: Record<Grant, readonly string[]> = {
  client_credentials: ['client_id', 'client_secret'],
  refresh_token: ['client_id', 'client_secret', 'refresh_token'],
}

/** Sets of fields, any of which is enough. */
export function fieldsOf(auth: Auth): readonly (readonly string[])[] {
  if (auth.kind === 'none') return [[]]
  if (auth.kind === 'pair') return [['key', 'secret']]
  return auth.kind === 'oauth' ? [['secret'], MADE_OF[auth.grant]] : [['secret']]
}

/** `token` is one that was made, and can be made again. */
export type Authorised = { headers: Record<string, string>; query: Record<string, string>; token?: string }
type Place = { base: string; replaced: boolean }
type Fields = ProviderKey['fields']

const known = new WeakMap<Auth, WeakMap<Fields, Authorised | Refusal>>()

/** At once, unless a token has to be made. What is sent as it is given is the same object for all calls of a key. */
export function authorise(
  context: ProviderContext,
  auth: Auth,
  key: ProviderKey,
  placeOf: (context: ProviderContext, key: ProviderKey) => Place,
  refused: string | undefined,
): Authorised | Refusal | Promise<Authorised | Refusal> {
  const { fields } = key
  if (auth.kind === 'oauth' && isMade(fields, auth.grant)) {
    const place = placeOf(context, key)
    return key
      .token((current) => makeToken(context, auth, current, place), refused)
      .then((answer) => (answer.ok ? { ...bearer(answer.token), token: answer.token } : answer.refusal))
  }
  let ofAuth = known.get(auth)
  if (ofAuth === undefined) known.set(auth, (ofAuth = new WeakMap()))
  let authorised = ofAuth.get(fields)
  if (authorised === undefined) ofAuth.set(fields, (authorised = authoriseBy(auth, fields)))
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

/** A platform key is one text: `client_id:client_secret` where tokens are made of those. */
function isMade(fields: ProviderKey['fields'], grant: Grant): boolean {
  return MADE_OF[grant].every((name) => partsOf(fields)[name] !== undefined)
}

function partsOf(fields: ProviderKey['fields']): Readonly<Record<string, string | undefined>> {
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
  /** Where the account is, which Salesforce and Pipedrive tell with their tokens. */
  instance_url: z.url().optional(),
  api_domain: z.url().optional(),
})
const PLACES = ['instance_url', 'api_domain'] as const

const TOKEN_TIMEOUT_MS = 10_000

const CLIENT = new Set(['client_id', 'client_secret'])

function basic(parts: ReturnType<typeof partsOf>): string {
  const { client_id = '', client_secret = '' } = parts
  return `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`
}

async function makeToken(
  context: ProviderContext,
  auth: OAuth,
  fields: ProviderKey['fields'],
  place: Place,
): Promise<MadeToken<Refusal>> {
  const parts = partsOf(fields)
  const given = MADE_OF[auth.grant].map((name): [string, string] => [name, parts[name] ?? ''])
  const sent = auth.client === 'basic' ? given.filter(([name]) => !CLIENT.has(name)) : given
  const url = URL.parse(typeof auth.tokenUrl === 'string' ? auth.tokenUrl : auth.tokenUrl(fields))
  if (url === null) {
    return { ok: false, refusal: refusal('unconfigured', 'the address in its connection is none') }
  }
  const reply = await context.egress.fetch({
    // Who puts another server in a provider's place means its tokens as well.
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
  // An authorisation server says 400 to credentials that it does not know (RFC 6749, 5.2).
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
  const told = PLACES.flatMap((name): [string, string][] => {
    const address = places[name]
    return address === undefined || fields[name] !== undefined ? [] : [[name, address]]
  })
  const changed = {
    ...(refresh_token === undefined ? {} : { refresh_token }),
    ...Object.fromEntries(told),
  }
  return {
    ok: true,
    token: access_token,
    expiresInSeconds: expires_in,
    ...(Object.keys(changed).length === 0 ? {} : { fields: changed }),
  }
}
