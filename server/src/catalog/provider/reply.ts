import type { z } from 'zod'
import type { EgressFailure } from '../../lib/egress/egress.ts'
import type { EgressResponse } from '../../lib/egress/response.ts'
import type { JsonResult } from '../../lib/json/bounded-json.ts'
import { isObject } from '../../lib/json/object.ts'
import { redact } from '../../lib/security/redaction.ts'
import { readRetryAfter } from '../http/reply.ts'
import type { Outcome } from '../outcome.ts'
import { placeOf } from './misfits.ts'

/** The reason why a provider gave no answer. Messages contain no secret, because callers read them. */
export type Refusal =
  /** The provider looked and has nothing. */
  | { kind: 'miss' }
  /** The provider does not accept such a question. */
  | { kind: 'ineligible'; message: string; status?: number }
  /** The key is missing or was refused. */
  | { kind: 'unconfigured'; message: string }
  /** The key's quota is exhausted. */
  | { kind: 'no_credits'; message: string }
  | { kind: 'rate_limited'; message: string; afterMs?: number }
  /**
   * `transient`: a retry may succeed. `timeout`: a retry costs more than others. `brokenMs`: the provider was not
   * called because it failed too often, and is not called for that long. `misfit`: the place in the reply that has an
   * unexpected shape.
   */
  | {
      kind: 'error'
      message: string
      transient: boolean
      timeout?: true
      brokenMs?: number
      misfit?: { at: string; problem: string }
    }

export type RefusalKind = Refusal['kind']

/**
 * The meanings that a provider's own rules can give a reply, whatever its status. `outage` is a temporary error;
 * `answer` is a reply that the adapter reads.
 */
export type ReplyMeaning = RefusalKind | 'outage' | 'answer'

/** A provider's deviations from the usual form of answers. */
export type ReplyRules = {
  /** The meanings of statuses that differ from the usual ones. */
  statuses?: Readonly<Record<number, RefusalKind>>
  /**
   * Returns the meaning of a reply that only the body shows, such as a miss that comes as 400 or an error inside a 200,
   * or null if the body shows none. `word` returns a text or number from the top of the body, or '' if there is none.
   */
  classify?: (reply: { status: number; body: unknown; word: (name: string) => string }) => ReplyMeaning | null
  /** The delay if the provider asks to slow down without naming one. */
  slowDownMs?: number
  /** Returns the error message, if the body holds it among other things. */
  explain?: (body: unknown) => string | null
}

export type ProviderReply<Body> = { ok: true; body: Body } | { ok: false; refusal: Refusal }

export function refusal(kind: RefusalKind | 'outage', message: string): Refusal {
  if (kind === 'miss') return { kind }
  if (kind === 'outage') return { kind: 'error', message, transient: true }
  return kind === 'error' ? { kind, message, transient: false } : { kind, message }
}

/** Returns the refusal for a call that got no answer at all. */
export function refusalOfFailure({ kind, message, retryable }: EgressFailure): Refusal {
  const timeout = kind === 'timeout' ? { timeout: true as const } : {}
  return { kind: 'error', message, transient: retryable || kind === 'aborted', ...timeout }
}

const USUAL: Readonly<Record<number, RefusalKind>> = {
  401: 'unconfigured',
  402: 'no_credits',
  403: 'unconfigured',
  408: 'rate_limited',
  425: 'rate_limited',
  429: 'rate_limited',
}
const WORDS: Partial<Record<RefusalKind | 'outage', string>> = {
  unconfigured: 'the key was refused',
  no_credits: 'the key is used up',
  rate_limited: 'its rate limit is reached',
  ineligible: 'it does not accept this request',
}
const EXCERPT = 200

type Rules = {
  rules: ReplyRules
  /** Secrets to remove from the text of a refusal. */
  secrets: () => readonly string[]
  now: () => Date
  /** The answer as JSON. */
  json: JsonResult
}

/**
 * Interprets an HTTP answer: first by the provider's own rules, then by the usual meaning of its status, then by the
 * schema.
 */
export function parseReply<Body>(
  reply: EgressResponse,
  schema: z.ZodType<Body>,
  { rules, secrets, now, json: read }: Rules,
): ProviderReply<Body> {
  const { status } = reply
  // An empty body is a valid answer, not a broken one.
  const json: JsonResult = status === 204 || reply.body.length === 0 ? { ok: true, value: null } : read
  const body = json.ok ? json.value : undefined
  const kind =
    rules.classify?.({ status, body, word: (name) => wordIn(body, name) }) ??
    // A Retry-After means throttled, not exhausted.
    (status === 429 && reply.header('retry-after') !== undefined ? 'rate_limited' : undefined) ??
    rules.statuses?.[status] ??
    USUAL[status] ??
    (status >= 300 ? 'error' : null)
  if (kind !== null && kind !== 'answer') {
    const words = WORDS[kind] === undefined ? `HTTP ${status}` : `${WORDS[kind]} (HTTP ${status})`
    const message = `${words}${printExcerpt(rules.explain?.(body) ?? reply.excerpt(20 * EXCERPT), secrets())}`
    return { ok: false, refusal: withDetails(refusal(kind, message), reply, { rules, now }) }
  }
  if (!json.ok) return toMisfit({ at: '', problem: json.message }, json.message)
  const parsed = schema.safeParse(json.value)
  if (parsed.success) return { ok: true, body: parsed.data }
  const [issue] = parsed.error.issues
  const misfit = issue === undefined ? { at: '', problem: '' } : placeOf(issue)
  return toMisfit(misfit, `the answer is not of the expected shape at ${misfit.at}: ${misfit.problem}`)
}

function wordIn(body: unknown, name: string): string {
  const value = isObject(body) ? body[name] : ''
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

function withDetails(
  given: Refusal,
  reply: EgressResponse,
  { rules, now }: Pick<Rules, 'rules' | 'now'>,
): Refusal {
  if (given.kind === 'error') return { ...given, transient: given.transient || reply.status >= 500 }
  if (given.kind === 'ineligible') return { ...given, status: reply.status }
  if (given.kind !== 'rate_limited') return given
  const afterMs = readRetryAfter(reply.header('retry-after'), now()) ?? rules.slowDownMs
  return afterMs === undefined ? given : { ...given, afterMs }
}

function toMisfit(misfit: { at: string; problem: string }, message: string): { ok: false; refusal: Refusal } {
  return { ok: false, refusal: { kind: 'error', message, transient: false, misfit } }
}

function printExcerpt(givenText: string, secrets: readonly string[]): string {
  // Secrets are removed before the text is cut, because half a secret at the end would not be found.
  const text = redact(givenText.slice(0, 20 * EXCERPT), secrets)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, EXCERPT)
    .toWellFormed()
  return text === '' ? '' : `: ${text}`
}

/** Turns the failure of a built-in source into a refusal like those of providers. */
export function refusalOf(outcome: Outcome<never>): Refusal {
  const message = 'message' in outcome ? outcome.message : outcome.kind
  return outcome.kind === 'retry' ? { kind: 'error', message, transient: true } : refusal('error', message)
}
