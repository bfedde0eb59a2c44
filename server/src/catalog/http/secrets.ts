import type { EgressRequest } from '../../lib/egress/request.ts'
import { type EgressResponse, Response } from '../../lib/egress/response.ts'
import { hasText } from '../../lib/search.ts'
import { createMask, type Mask } from '../../lib/security/redaction.ts'
import { pause } from '../../lib/timing/turns.ts'

/**
 * The length of the shortest header value that is hidden. A shorter one is hardly a credential, and may appear in an
 * answer for other reasons.
 */
const SHORTEST_SENT = 8
/**
 * The length of the shortest secret that is always hidden. A shorter one that was not sent in a header is ordinary data,
 * which answers may repeat.
 */
export const SHORTEST_SECRET = 12

/** Removes secrets from a reply. */
export type Hiding = {
  /** Removes all secrets from the text of a failure. */
  inWords(text: string): string
  /**
   * Removes from an answer, keys included, all long secrets and those that were sent in headers, in turns with other work.
   */
  inContent<Content>(content: Content): Promise<Content>
}

const NOTHING_TO_HIDE: Hiding = { inWords: (text) => text, inContent: (content) => Promise.resolve(content) }

export function hideSecrets(request: EgressRequest, secrets: readonly string[]): Hiding {
  if (secrets.length === 0) return NOTHING_TO_HIDE
  const headerValues = Object.values(request.headers ?? {})
  const isSent = (secret: string) => headerValues.some((header) => hasText(header, secret))
  const hidden = secrets.filter(
    (secret) => secret.length >= SHORTEST_SECRET || (secret.length >= SHORTEST_SENT && isSent(secret)),
  )
  return {
    inWords: (text) => maskOf(secrets).inText(text),
    async inContent<Content>(content: Content) {
      if (hidden.length === 0) return content
      const mask = hidden.length === secrets.length ? maskOf(secrets) : createMask(hidden)
      // The mask returns a copy of the same shape with other texts, so the type stays.
      return (await mask.inLargeValue(content)) as Content
    },
  }
}

const masks = new WeakMap<readonly string[], Mask>()

/** Returns the mask of these secrets. Rows share the list of the secrets that they use. */
function maskOf(secrets: readonly string[]): Mask {
  const made = masks.get(secrets) ?? createMask(secrets)
  masks.set(secrets, made)
  return made
}

/**
 * A text that no answer may repeat. `plain` is the beginning of its longest part that every encoding writes the same way.
 */
export type Credential = { text: string; plain: string }

/** Returns the credentials that are long enough to be searched for. They are made once for all calls that send them. */
export function toCredentials(texts: readonly string[]): Credential[] {
  return texts
    .filter((text) => text.length >= SHORTEST_SECRET)
    .map((text) => {
      const parts = text.match(/[\w-]+/g) ?? []
      const [plain = ''] = parts.toSorted((one, other) => other.length - one.length)
      // Searching for a longer one could take time in proportion to the square of its length.
      return { text, plain: plain.slice(0, 64) }
    })
}

/**
 * Removes the credentials that a reply repeats. The search is in the bytes of the reply, and takes a negligible time. It
 * finds a credential as it was sent and as JSON writes it. Nearly all replies are returned unchanged.
 */
export async function cutCredentials(
  reply: EgressResponse,
  credentials: readonly Credential[],
): Promise<EgressResponse> {
  const body = asBuffer(reply.body)
  const repeated: Credential[] = []
  for (const credential of credentials) if (await holds(body, credential)) repeated.push(credential)
  return repeated.length === 0 ? reply : cutOut(reply, repeated)
}

/** The number of bytes that are searched at once. */
const PIECE = 1024 * 1024

async function holds(body: Buffer, { plain }: Credential): Promise<boolean> {
  if (body.length <= PIECE) return body.includes(plain)
  for (let from = 0; from < body.length; from += PIECE) {
    await pause()
    if (body.subarray(from, from + PIECE + plain.length).includes(plain)) return true
  }
  return false
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

async function cutOut(reply: EgressResponse, repeated: readonly Credential[]): Promise<EgressResponse> {
  const spellings = repeated.flatMap(({ text }) => [text, text.replaceAll('/', String.raw`\/`)])
  const text = await createMask(spellings).inLargeText(await reply.text())
  await pause()
  const body = Buffer.from(text)
  const { status, url, redirects, location, more, ms, headers } = reply
  return new Response({ status, body, url, redirects, location, more, ms }, headers)
}
