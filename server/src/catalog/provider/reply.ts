import type { z } from 'zod'
import type { EgressFailure } from '../../lib/egress/egress.ts'
import type { EgressResponse } from '../../lib/egress/response.ts'
import type { JsonResult } from '../../lib/json/bounded-json.ts'
import { isObject } from '../../lib/json/object.ts'
import { redact } from '../../lib/security/redaction.ts'
import { readRetryAfter } from '../http/reply.ts'
import { placeOf } from './misfits.ts'

/** Why a provider gave no answer. Messages hold no secret: callers read them. */
export type Refusal =
  /** It looked and has nothing. */
  | { kind: 'miss' }
  /** It does not take such a question. */
  | { kind: 'ineligible'; message: string }
  /** There is no key, or it was refused. */
  | { kind: 'unconfigured'; message: string }
  /** The key is used up. */
  | { kind: 'no_credits'; message: string }
  | { kind: 'rate_limited'; message: string; afterMs?: number }
  /**
   * `transient` may pass when it is tried again; `timeout` costs more than others to try; with `brokenMs` it was not asked,
   * because it failed too often, and is left alone for that long; `misfit` is the place in the reply that is not of the
   * expected shape.
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
 * What a provider's own rules may say of a reply, whatever its status: `outage` is an error that may pass, `answer` something
 * that its adapter reads.
 */
export type ReplyMeaning = RefusalKind | 'outage' | 'answer'

/** How a provider words its answers, where that is not the usual way. */
export type ReplyRules = {
  /** What a status means with this provider, where that is not what it usually means. */
  statuses?: Readonly<Record<number, RefusalKind>>
  /**
   * The same for what only the body tells, as misses that come as 400 or errors inside a 200; null where it tells nothing.
   * `word` is a text or a number at the top of it, '' when there is none.
   */
  classify?: (reply: { status: number; body: unknown; word: (name: string) => string }) => ReplyMeaning | null
  /** How long to wait when it asks to slow down and does not say for how long. */
  slowDownMs?: number
  /** The words of an error, where its body says them among other things. */
  explain?: (body: unknown) => string | null
}

export type ProviderReply<Body> = { ok: true; body: Body } | { ok: false; refusal: Refusal }

export function refusal(kind: RefusalKind | 'outage', message: string): Refusal {
  if (kind === 'miss') return { kind }
  if (kind === 'outage') return { kind: 'error', message, transient: true }
  return kind === 'error' ? { kind, message, transient: false } : { kind, message }
}

/** A call that got no answer at all. */
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
  rate_limited: 'it asks to slow down',
  ineligible: 'it does not take this',
}
const EXCERPT = 200

type Rules = {
  rules: ReplyRules
  /** Cut out of the words of a refusal. */
  secrets: () => readonly string[]
  now: () => Date
  /** The answer as JSON. */
  json: JsonResult
}

/** What an HTTP answer comes to: what the provider's own rules say of it, then what is usual, then the schema. */
export function parseReply<Body>(
  reply: EgressResponse,
  schema: z.ZodType<Body>,
  { rules, secrets, now, json: read }: Rules,
): ProviderReply<Body> {
  const { status } = reply
  // No content is an answer of its own, and no broken one.
  const json: JsonResult = status === 204 || reply.body.length === 0 ? { ok: true, value: null } : read
  const body = json.ok ? json.value : undefined
  const kind =
    rules.classify?.({ status, body, word: (name) => wordIn(body, name) }) ??
    // Who says when to come back is not used up.
    (status === 429 && reply.header('retry-after') !== undefined ? 'rate_limited' : undefined) ??
    rules.statuses?.[status] ??
    USUAL[status] ??
    (status >= 300 ? 'error' : null)
  if (kind !== null && kind !== 'answer') {
    const words = [WORDS[kind], `HTTP ${status}`].filter((word) => word !== undefined).join(' ')
    const message = `${words}${excerptOf(rules.explain?.(body) ?? reply.text(), secrets())}`
    return { ok: false, refusal: withDetails(refusal(kind, message), reply, { rules, now }) }
  }
  if (!json.ok) return misfitOf({ at: '', problem: json.message }, json.message)
  const parsed = schema.safeParse(json.value)
  if (parsed.success) return { ok: true, body: parsed.data }
  const [issue] = parsed.error.issues
  const misfit = issue === undefined ? { at: '', problem: '' } : placeOf(issue)
  return misfitOf(misfit, `the answer is not of the expected shape at ${misfit.at}: ${misfit.problem}`)
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
  if (given.kind !== 'rate_limited') return given
  const afterMs = readRetryAfter(reply.header('retry-after'), now()) ?? rules.slowDownMs
  return afterMs === undefined ? given : { ...given, afterMs }
}

function misfitOf(misfit: { at: string; problem: string }, message: string): { ok: false; refusal: Refusal } {
  return { ok: false, refusal: { kind: 'error', message, transient: false, misfit } }
}

function excerptOf(said: string, secrets: readonly string[]): string {
  // Cut after the secrets: half of one at the end would not be found.
  const text = redact(said.slice(0, 20 * EXCERPT), secrets)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, EXCERPT)
    .toWellFormed()
  return text === '' ? '' : `: ${text}`
}
