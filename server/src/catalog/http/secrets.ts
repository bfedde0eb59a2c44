import type { EgressRequest } from '../../lib/egress/request.ts'
import { NumberText } from '../../lib/json/lossless-json.ts'
import { redact } from '../../lib/security/redaction.ts'

/** A shorter value in a header is hardly a credential, and may stand in an answer for other reasons. */
const SHORTEST = 8

/** Cuts secrets out of what a reply says. */
export type Hiding = {
  /** Words of a failure hold none of them. */
  inWords(text: string): string
  /** Of an answer only those are cut that were sent as headers: other variables are data, which answers rightly repeat. */
  inContent(content: Record<string, unknown>): Record<string, unknown>
}

export function hideSecrets(request: EgressRequest, secrets: readonly string[]): Hiding {
  const sent = Object.values(request.headers ?? {})
  const credentials = secrets.filter(
    (secret) => secret.length >= SHORTEST && sent.some((header) => header.includes(secret)),
  )
  return {
    inWords: (text) => redact(text, secrets),
    inContent: (content) => (credentials.length === 0 ? content : cutInObject(content, credentials)),
  }
}

// What was read from a reply is at most 100 levels deep.
function cut(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return redact(value, secrets)
  if (typeof value !== 'object' || value === null || value instanceof NumberText) return value
  return Array.isArray(value) ? value.map((item) => cut(item, secrets)) : cutInObject(value, secrets)
}

function cutInObject(value: object, secrets: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, cut(part, secrets)]))
}
