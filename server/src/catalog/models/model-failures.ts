import { isObject } from '../../lib/json/object.ts'
import { redact } from '../../lib/security/redaction.ts'
import { MAX_PAUSE_MS, readRetryAfter } from '../http/reply.ts'
import type { Outcome } from '../outcome.ts'
import { readJson } from '../values/json-text.ts'
import { LONGEST_ERROR, ModelRefused } from './chat-completion.ts'
import { ModelUnreached } from './model-fetch.ts'
import type { Model } from './models.ts'

type Ending = Extract<Outcome<never>, { kind: 'failed' | 'retry' }>

/** The reason why a call gave no answer, and how to go on. */
export type ModelFailure = {
  outcome: Ending
  /** The HTTP status, if there was a reply. */
  status?: number
  /** Set if the server itself has a fault. */
  broken: boolean
}

type About = { model: Model; hidden: readonly string[]; now: Date }

/** The error of this program or of the client library, with the fields that both may have. */
type ApiError = Error & {
  statusCode?: number
  responseHeaders?: Record<string, string>
  responseBody?: string
}

const EXCERPT = 500

/** Converts the error of a call to a failure. Rethrows an error that neither the network nor the server can cause. */
export function readFailure(cause: unknown, about: About): ModelFailure {
  if (cause instanceof ModelUnreached) {
    const { retryable, kind, message } = cause.failure
    const passes = retryable || kind === 'aborted'
    return { outcome: { kind: passes ? 'retry' : 'failed', message }, broken: retryable }
  }
  if (!isApiError(cause)) throw cause
  const { statusCode: status, responseBody: body } = cause
  const serverText = clean(body === undefined ? cause.message : messageIn(body), about.hidden)
  if (status === undefined || status < 300) {
    return { outcome: fail(`the answer of the model server cannot be read: ${serverText}`), broken: false }
  }
  return { outcome: outcomeOfStatus(status, serverText, cause, about), status, broken: status >= 500 }
}

const fail = (message: string): Ending => ({ kind: 'failed', message })

function outcomeOfStatus(status: number, serverText: string, cause: ApiError, { model, now }: About): Ending {
  // The text of the server is left out, because it often contains the key.
  if (status === 401 || status === 403) {
    return fail(
      `the model server refused the key for ${model.name} (HTTP ${status}); check ${model.keyPlace}`,
    )
  }
  const message = `the model server answered HTTP ${status}: ${serverText}`
  // OpenAI also answers 429 when the account has no money left. Waiting does not help then.
  if (status === 429 && /insufficient_quota/.test(cause.responseBody ?? '')) return fail(message)
  if (status !== 408 && status !== 429 && status < 500) return fail(message)
  const afterMs = readPause(cause.responseHeaders ?? {}, now)
  return { kind: 'retry', message, ...(afterMs === undefined ? {} : { afterMs }) }
}

/**
 * Returns how long to wait before the next call, as the server's headers say. A server reports the resets of several
 * limits at once, and the latest one counts.
 */
function readPause(headers: Readonly<Record<string, string>>, now: Date): number | undefined {
  const ms = Number(headers['retry-after-ms'])
  if (headers['retry-after-ms'] !== undefined && ms >= 0) return Math.min(MAX_PAUSE_MS, ms)
  const after = readRetryAfter(headers['retry-after'], now)
  if (after !== undefined) return after
  const resets = Object.entries(headers)
    .filter(([name]) => /ratelimit.*-reset/.test(name))
    .flatMap(([name, text]) => (isUsedUp(name, headers) ? [readReset(text, now)] : []))
    .filter((pause) => pause !== undefined)
  return resets.length === 0 ? undefined : Math.min(MAX_PAUSE_MS, Math.max(...resets))
}

/** Returns true if a limit may be exhausted. A limit with a remaining count above zero did not cause the refusal. */
function isUsedUp(name: string, headers: Readonly<Record<string, string>>): boolean {
  const remaining = headers[name.replace('-reset', '-remaining')]
  return remaining === undefined || Number(remaining) === 0
}

const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const LONGEST_MS = 86_400_000

/** Reads the time of a reset. Servers write `6m0s`, `20ms`, seconds, a Unix time or a date. */
function readReset(text: string, now: Date): number | undefined {
  const given = text.trim()
  if (/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(given)) {
    const parts = [...given.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)]
    return Math.min(
      LONGEST_MS,
      parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0),
    )
  }
  const number = /^\d+(\.\d+)?$/.test(given) ? Number(given) : Number.NaN
  const at = number > 1e11 ? number : number > 1e8 ? number * 1000 : Date.parse(given)
  const pause = number <= 1e8 ? number * 1000 : at - now.getTime()
  return Number.isNaN(pause) ? undefined : Math.min(LONGEST_MS, Math.max(0, pause))
}

/** Recognises errors of the client library by their name, since more than one copy of the library may be loaded. */
function isApiError(cause: unknown): cause is ApiError {
  return cause instanceof ModelRefused || (cause instanceof Error && cause.name.startsWith('AI_'))
}

function messageIn(whole: string): string {
  const body = whole.slice(0, LONGEST_ERROR)
  const parsed = readJson(body)
  const error = parsed.ok && isObject(parsed.value) ? (parsed.value['error'] ?? parsed.value) : undefined
  const message = isObject(error) ? error['message'] : error
  return typeof message === 'string' && message !== '' ? message : body
}

/** Prepares a text of a server or a model for a message: short, on one line, and without the hidden texts. */
export function clean(text: string, hidden: readonly string[]): string {
  const line = redact(text, hidden)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
  return line.length <= EXCERPT ? line : `${line.slice(0, EXCERPT).toWellFormed()}...`
}
