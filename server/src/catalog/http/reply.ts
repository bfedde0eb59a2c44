import type { EgressResponse } from '../../lib/egress/response.ts'
import { parseBounded } from '../../lib/json/bounded-json.ts'
import { parseLossless } from '../../lib/json/lossless-json.ts'
import { isObject } from '../../lib/json/object.ts'
import { inTurns } from '../../lib/timing/turns.ts'
import { done, failed, type Outcome, retry } from '../outcome.ts'
import { nameColumnsInSteps, nameOutputsInSteps } from '../values/output-names.ts'
import type { Hiding } from './secrets.ts'

type ReplyOutputs = { status_code: number } & Record<string, unknown>

const EXCERPT = 500

/** Returns what an HTTP reply comes to: 429 and 5xx may pass, any other 4xx is final (D24, D65). */
export async function readReply(
  reply: EgressResponse,
  now: Date,
  hide: Hiding,
): Promise<Outcome<ReplyOutputs>> {
  const { status } = reply
  if (status < 400) return readContent(reply, hide)
  // The excerpt is cut after the secrets are hidden: half of a secret at its end would not be found.
  const message = `HTTP ${status}${excerptOf(hide.inWords(reply.excerpt(20 * EXCERPT)))}`
  return status === 429 || status >= 500
    ? retry(message, readRetryAfter(reply.header('retry-after'), now))
    : failed(message)
}

/**
 * The most outputs of one reply. Each may become a column, and naming hundreds of thousands blocks the thread for seconds
 * (I2).
 */
const MAX_OUTPUTS = 10_000
const TOO_MANY_OUTPUTS =
  'the answer is an object of more than 10,000 keys, each of which would be an output; ask for a list, or for less at once'

/**
 * Returns one output for each top-level key. A list becomes `items`, any other value becomes `response`. Secrets are
 * hidden before the names are made.
 */
async function readContent(reply: EgressResponse, hide: Hiding): Promise<Outcome<ReplyOutputs>> {
  const status_code = reply.status
  const text = await reply.text()
  if (text.trim() === '') return done({ status_code })
  const parsed = looksLikeJson(reply, text) ? await parseBounded(text, parseLossless) : null
  if (parsed?.ok !== true) {
    // The reply is not kept as text either: nothing could be done with a text of this size.
    if (parsed?.why === 'too many values') return failed(parsed.message)
    return done({ response: await hide.inContent(text), status_code })
  }
  if (isObject(parsed.value) && Object.keys(parsed.value).length > MAX_OUTPUTS)
    return failed(TOO_MANY_OUTPUTS)
  const value = await hide.inContent(parsed.value)
  if (Array.isArray(value)) return done({ items: await inTurns(nameColumnsInSteps(value)), status_code })
  return done({
    ...(isObject(value) ? await inTurns(nameOutputsInSteps(value, ['status_code'])) : { response: value }),
    status_code,
  })
}

/**
 * Returns true if a reply may be JSON. An object or a list counts whatever its content type says, because many servers
 * send JSON as plain text.
 */
function looksLikeJson(reply: EgressResponse, text: string): boolean {
  return /[/+]json\b/i.test(reply.header('content-type') ?? '') || /^\s*[[{]/.test(text)
}

function excerptOf(text: string): string {
  const short = text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, EXCERPT)
    .toWellFormed()
  return short === '' ? '' : `: ${short}`
}

/** The longest pause, whatever a server asks for. */
export const MAX_PAUSE_MS = 86_400_000

/** Reads a Retry-After header: seconds or an HTTP date, capped at one day. Returns undefined if it is neither. */
export function readRetryAfter(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d+$/.test(text)) return Math.min(MAX_PAUSE_MS, Number(text) * 1000)
  const date = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.min(MAX_PAUSE_MS, Math.max(0, date - now.getTime()))
}
