import type { EgressRequest } from '../../lib/egress/request.ts'
import { createMask } from '../../lib/security/redaction.ts'

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

export function hideSecrets(request: EgressRequest, secrets: readonly string[]): Hiding {
  const sent = Object.values(request.headers ?? {})
  const isSent = (secret: string) => sent.some((header) => header.includes(secret))
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
