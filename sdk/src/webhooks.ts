import { WebhookVerificationError } from './errors.ts'

/** The headers of a request, as any framework has them. */
export type HeadersLike = Headers | Record<string, string | string[] | undefined>

/** A message of Loam to an address of yours. */
export type WebhookEvent<Type extends string = string, Data = Record<string, unknown>> = {
  id: string
  type: Type
  created_at: string
  org_id: string
  data: Data
}

const TOLERANCE_SECONDS = 300

/**
 * Checks the signature of a webhook (Standard Webhooks) and returns its payload. `body` is the body as it arrived,
 * not parsed and written again. Fails with WebhookVerificationError.
 */
async function verify(
  body: string | Uint8Array | ArrayBuffer,
  headers: HeadersLike,
  secret: string,
  { tolerance = TOLERANCE_SECONDS }: { tolerance?: number } = {},
): Promise<unknown> {
  const id = readHeader(headers, 'webhook-id')
  const timestamp = readHeader(headers, 'webhook-timestamp')
  const signatures = readHeader(headers, 'webhook-signature')
  if (!/^\d+$/.test(timestamp)) throw refuse('the header webhook-timestamp must be a Unix time in seconds')
  const age = Date.now() / 1000 - Number(timestamp)
  if (Math.abs(age) > tolerance) {
    throw refuse(`it was signed ${Math.round(Math.abs(age))} s ${age > 0 ? 'ago' : 'in the future'}`)
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : new Uint8Array(body)
  const key = await importKey(secret)
  const signed = join(new TextEncoder().encode(`${id}.${timestamp}.`), bytes)
  for (const entry of signatures.split(' ')) {
    const [version, signature = ''] = entry.split(',')
    const given = version === 'v1' ? decodeBase64(signature) : null
    if (given !== null && (await crypto.subtle.verify('HMAC', key, given, signed))) return parse(bytes)
  }
  throw refuse('no signature matches: check the secret, and pass the body exactly as it arrived')
}

/** Checks a webhook like `verify` and returns it as an event. */
async function unwrap<Event extends WebhookEvent = WebhookEvent>(
  body: string | Uint8Array | ArrayBuffer,
  headers: HeadersLike,
  secret: string,
  options: { tolerance?: number } = {},
): Promise<Event> {
  const payload = await verify(body, headers, secret, options)
  if (typeof payload !== 'object' || payload === null || typeof Reflect.get(payload, 'type') !== 'string') {
    throw refuse('it is signed, but is no event: it has no `type`')
  }
  return payload as Event
}

/** The functions for receivers of webhooks. They need no client and no API key. */
export const webhooks = { verify, unwrap }

const refuse = (why: string) => new WebhookVerificationError(`The webhook is refused: ${why}`)

function readHeader(headers: HeadersLike, name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1]
  const text = Array.isArray(value) ? value.join(' ') : value
  if (text === null || text === undefined || text === '') throw refuse(`the header ${name} is missing`)
  return text
}

async function importKey(secret: string): Promise<Awaited<ReturnType<typeof crypto.subtle.importKey>>> {
  const bytes = decodeBase64(secret.replace(/^whsec_/, ''))
  if (bytes === null || bytes.length === 0) throw refuse('the secret must be `whsec_` and base64')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
  } catch {
    return null
  }
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(first.length + second.length)
  whole.set(first)
  whole.set(second, first.length)
  return whole
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    throw refuse('its body is no JSON')
  }
}
