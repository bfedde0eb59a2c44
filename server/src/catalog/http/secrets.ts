import type { EgressRequest } from '../../lib/egress/request.ts'
import { type EgressResponse, Response } from '../../lib/egress/response.ts'
import { hasText } from '../../lib/search.ts'
import { createMask, redact } from '../../lib/security/redaction.ts'

/** A shorter value in a header is hardly a credential, and may stand in an answer for other reasons. */
const SHORTEST_SENT = 8
/** What is shorter and was not sent as a header is data like any other, which answers rightly repeat. */
export const SHORTEST_SECRET = 12

/** Cuts secrets out of what a reply says. */
export type Hiding = {
  /** Words of a failure hold none of them. */
  inWords(text: string): string
  /** Of an answer all long ones are cut, and those that were sent as headers; from its keys too. */
  inContent<Content>(content: Content): Content
}

const NOTHING_TO_HIDE: Hiding = { inWords: (text) => text, inContent: (content) => content }

export function hideSecrets(request: EgressRequest, secrets: readonly string[]): Hiding {
  if (secrets.length === 0) return NOTHING_TO_HIDE
  const sent = Object.values(request.headers ?? {})
  const isSent = (secret: string) => sent.some((header) => hasText(header, secret))
  const hidden = secrets.filter(
    (secret) => secret.length >= SHORTEST_SECRET || (secret.length >= SHORTEST_SENT && isSent(secret)),
  )
  const inContent = hidden.length === 0 ? null : createMask(hidden).inValue
  return {
    inWords: (text) => createMask(secrets).inText(text),
    // A copy of what was given, with other texts in it.
    inContent: <Content>(content: Content) =>
      inContent === null ? content : (inContent(content) as Content),
  }
}

/** What no answer may repeat, with the beginning of its longest part that is spelled the same everywhere. */
export type Credential = { text: string; plain: string }

/** Those that can be looked for. Made once for the calls that they are sent with. */
export function toCredentials(texts: readonly string[]): Credential[] {
  return texts
    .filter((text) => text.length >= SHORTEST_SECRET)
    .map((text) => {
      const parts = text.match(/[\w-]+/g) ?? []
      const [plain = ''] = parts.toSorted((one, other) => other.length - one.length)
      // A longer one could take the square of its length to be looked for.
      return { text, plain: plain.slice(0, 64) }
    })
}

/**
 * The reply without the credentials that it repeats. They are looked for in its bytes, as they are copied and as JSON spells
 * them, which takes no time worth mentioning; nearly all replies are given back as they are.
 */
export function cutCredentials(reply: EgressResponse, credentials: readonly Credential[]): EgressResponse {
  if (credentials.length === 0) return reply
  const body = asBuffer(reply.body)
  const repeated = credentials.filter(({ plain }) => body.includes(plain))
  return repeated.length === 0 ? reply : cutOut(reply, repeated)
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

function cutOut(reply: EgressResponse, repeated: readonly Credential[]): EgressResponse {
  const spellings = repeated.flatMap(({ text }) => [text, text.replaceAll('/', String.raw`\/`)])
  const body = Buffer.from(redact(reply.text(), spellings))
  const { status, url, redirects, location, more, ms, headers } = reply
  return new Response({ status, body, url, redirects, location, more, ms }, headers)
}
