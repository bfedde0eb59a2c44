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
  /** A bearer token, given as it is or made of the other fields at `tokenUrl` and kept until it expires. */
  | { kind: 'oauth'; grant: Grant; tokenUrl: string }

type Grant = 'client_credentials' | 'refresh_token'

const MADE_OF: Record<Grant, readonly string[]> = {
  client_credentials: ['client_id', 'client_secret'],
  refresh_token: ['client_id', 'client_secret', 'refresh_token'],
}

/** Sets of fields, any of which is enough. */
export function fieldsOf(auth: Auth): readonly (readonly string[])[] {
  if (auth.kind === 'none') return [[]]
  return auth.kind === 'oauth' ? [['secret'], MADE_OF[auth.grant]] : [['secret']]
}

/** `token` is one that was made, and can be made again. */
export type Authorised = { headers: Record<string, string>; query: Record<string, string>; token?: string }
type Place = { base: string; replaced: boolean }

export async function authorise(
  context: ProviderContext,
  auth: Auth,
  key: ProviderKey,
  place: Place,
  refused: string | undefined,
): Promise<Authorised | Refusal> {
  const { secret } = key.fields
  if (auth.kind === 'none') return { headers: {}, query: {} }
  if (auth.kind === 'oauth' && isMade(key.fields, auth.grant)) {
    const answer = await key.token((fields) => makeToken(context, auth, fields, place), refused)
    if (!answer.ok) return answer.refusal
    return { ...bearer(answer.token), token: answer.token }
  }
  if (secret === undefined || secret === '') return refusal('unconfigured', 'the connection has no secret')
  if (auth.kind === 'header') return { headers: { [auth.name]: secret }, query: {} }
  if (auth.kind === 'query') return { headers: {}, query: { [auth.name]: secret } }
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
  /** Where the account is, which Salesforce tells with its tokens. */
  instance_url: z.url().optional(),
})

const TOKEN_TIMEOUT_MS = 10_000

async function makeToken(
  context: ProviderContext,
  auth: { grant: Grant; tokenUrl: string },
  fields: ProviderKey['fields'],
  place: Place,
): Promise<MadeToken<Refusal>> {
  const parts = partsOf(fields)
  const given = MADE_OF[auth.grant].map((name): [string, string] => [name, parts[name] ?? ''])
  const url = new URL(auth.tokenUrl)
  const reply = await context.egress.fetch({
    // Who puts another server in a provider's place means its tokens as well.
    url: place.replaced ? `${place.base}${url.pathname}` : url.href,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams([['grant_type', auth.grant], ...given]).toString(),
    timeoutMs: TOKEN_TIMEOUT_MS,
    signal: context.signal,
  })
  if (!reply.ok) return { ok: false, refusal: refusalOfFailure(reply) }
  // An authorisation server says 400 to credentials that it does not know (RFC 6749, 5.2).
  const rules = { statuses: { 400: 'unconfigured' } } as const
  const secrets = given.map(([, value]) => value)
  const answer = parseReply(reply, TokenReply, { rules, secrets, now: context.now() })
  if (!answer.ok) return answer
  const { access_token, expires_in, refresh_token, instance_url } = answer.body
  const isPlaceNew = instance_url !== undefined && fields['instance_url'] === undefined
  const changed = {
    ...(refresh_token === undefined ? {} : { refresh_token }),
    ...(isPlaceNew ? { instance_url } : {}),
  }
  return {
    ok: true,
    token: access_token,
    expiresInSeconds: expires_in,
    ...(Object.keys(changed).length === 0 ? {} : { fields: changed }),
  }
}
