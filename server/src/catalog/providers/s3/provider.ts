import { z } from 'zod'
import { trimEnd } from '../../../lib/plain-text.ts'
import { redact } from '../../../lib/security/redaction.ts'
import { defineProvider, type Provider } from '../../provider/provider.ts'
import { parseReply, refusal, refusalOfFailure, type RefusalKind } from '../../provider/reply.ts'
import { escapePart, signGet } from './signature.ts'

const spec = defineProvider({
  id: 's3',
  name: 'S3',
  evidence:
    'docs.aws.amazon.com/AmazonS3/latest/API (Signature Version 4); named as where it is documented, not checked as of November 2026',
  baseUrl: '',
  auth: { kind: 'bearer' },
  limits: { concurrent: 10 },
  fields: ['access_key_id', 'session_token', 'region', 'endpoint'],
  requiresOwnKey: true,
})

/** The part of an object to read; a list is requested by `query`. The path is `/bucket` or `/bucket/key`. */
const Wanted = z.object({ part: z.object({ start: z.int(), size: z.int() }).optional() })

/** The body of any answer. */
export const S3Reply = z.object({
  status: z.number(),
  bytes: z.instanceof(Uint8Array),
  more: z.boolean(),
  etag: z.string().nullable(),
})

const KINDS: readonly [code: string, kind: RefusalKind][] = [
  ['InvalidAccessKeyId', 'unconfigured'],
  ['SignatureDoesNotMatch', 'unconfigured'],
  ['ExpiredToken', 'unconfigured'],
  ['NoSuchBucket', 'ineligible'],
  ['NoSuchKey', 'ineligible'],
  ['PermanentRedirect', 'ineligible'],
  ['AuthorizationHeaderMalformed', 'ineligible'],
  ['SlowDown', 'rate_limited'],
]
const TIMEOUT_MS = 60_000
const MAX_LIST_BYTES = 5_000_000

/**
 * Amazon S3, or a store with the same API that the path names. A connection's secret is the secret access key. Its
 * fields are `access_key_id`, `region` and, for other stores, `endpoint`.
 */
export const s3: Provider = {
  ...spec,
  isPlaced: () => true,
  async request(context, key, { path, query = {}, json }, schema) {
    const { secret = '', access_key_id = '', session_token, region = 'us-east-1', endpoint } = key.fields
    if (secret === '' || access_key_id === '') {
      const words = 'its connection needs --secret <secret access key> and --field access_key_id=...'
      return { ok: false, refusal: refusal('unconfigured', words) }
    }
    const base = context.egress.baseUrl('s3', endpoint ?? `https://s3.${region}.amazonaws.com`)
    const url = URL.parse(`${trimEnd(base, '/')}${path.split('/').map(escapePart).join('/')}`)
    if (url === null) return { ok: false, refusal: refusal('unconfigured', 'the endpoint is not a URL') }
    const pairs = Object.entries(query).filter(([, value]) => value !== undefined)
    // The query in the form that is signed: another spelling of a space is another request.
    url.search = pairs.map(([name, value]) => `${escapePart(name)}=${escapePart(String(value))}`).join('&')
    const credentials = { accessKeyId: access_key_id, secretAccessKey: secret, sessionToken: session_token }
    const { part } = Wanted.parse(json ?? {})
    const reply = await context.egress.fetch({
      url: url.href,
      headers: signGet(url, region, credentials, context.now()),
      ...(part === undefined ? { maxBytes: MAX_LIST_BYTES } : { part }),
      // Credentials are valid for one host, and a redirect means another region.
      redirects: 'return',
      timeoutMs: TIMEOUT_MS,
      signal: context.signal,
    })
    if (!reply.ok) return { ok: false, refusal: refusalOfFailure(reply) }
    const { status } = reply
    if (status >= 300 && status !== 416) {
      const text = redact(reply.excerpt(2000), [secret, access_key_id])
      const kind = KINDS.find(([code]) => text.includes(`<Code>${code}</Code>`))?.[1] ?? null
      const message = /<Message>([^<]*)<\/Message>/.exec(text)?.[1] ?? null
      const rules = { classify: () => kind, explain: () => message }
      const parsedBody = await reply.json()
      return parseReply(reply, schema, {
        rules,
        secrets: () => [secret],
        now: () => context.now(),
        json: parsedBody,
      })
    }
    const etag = reply.header('etag') ?? null
    return { ok: true, body: schema.parse({ status, bytes: reply.body, more: reply.more, etag }) }
  },
}
