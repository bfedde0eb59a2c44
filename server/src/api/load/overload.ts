import { AppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'

/**
 * The limits of requests in progress: the first is the start and the maximum, the second is accepted however
 * slow answers are.
 */
const MAX_LIMIT = 256
const MIN_LIMIT = 32
/**
 * Callers with fewer requests than this are accepted beyond the limit too, so that a flood from one caller
 * does not lock out the others.
 */
const OWN_SHARE = 4
/** The limit changes at most this often. */
const STEP_MS = 50
const SHRINK = 0.9
const LOG_MS = 10_000
/** The longest Retry-After. It is random so that callers do not all return at the same moment. */
const MAX_RETRY_SECONDS = 3

export const retrySeconds = (): number => 1 + Math.floor(Math.random() * MAX_RETRY_SECONDS)

/** An error for a request refused because of overload. It occurs so often that single ones are not logged. */
export class OverloadError extends AppError {
  constructor() {
    super('Service Unavailable', 'The server is overloaded. Try again shortly', {
      retryAfter: retrySeconds(),
    })
  }
}

/**
 * Creates a guard that keeps answers fast under overload. It adapts the number of requests in progress to the
 * time they take: fewer while they take longer than `targetMs`, more while they do not. Further requests are
 * refused at once, before they cost anything. A target of 0 refuses nobody.
 */
export function createOverloadGuard<Request extends object>(targetMs: number, log: Pick<Log, 'warn'>) {
  const begun = new WeakMap<Request, { caller: string; at: number }>()
  const byCaller = new Map<string, number>()
  let underWay = 0
  let limit = MAX_LIMIT
  let changedAt = 0
  let refused = 0
  let loggedAt = -LOG_MS

  const isFull = (caller: string): boolean =>
    targetMs !== 0 && underWay >= limit && (byCaller.get(caller) ?? 0) >= OWN_SHARE

  function noteRefusal(): void {
    const now = performance.now()
    refused += 1
    if (now - loggedAt >= LOG_MS) {
      log.warn({ under_way: underWay, refused }, 'the server is overloaded; some requests are refused')
      loggedAt = now
      refused = 0
    }
  }

  function adapt(ms: number, now: number): void {
    if (now - changedAt < STEP_MS) return
    changedAt = now
    if (ms <= targetMs) limit = Math.min(MAX_LIMIT, limit + 1)
    // A few slow requests are no sign of overload.
    else if (underWay >= limit / 2)
      limit = Math.max(MIN_LIMIT, Math.floor(Math.min(limit, underWay) * SHRINK))
  }

  return {
    /** Returns true if a request of this caller must be refused, and counts it as refused. */
    refuses(callerOf: () => string): boolean {
      if (targetMs === 0 || underWay < limit || !isFull(callerOf())) return false
      noteRefusal()
      return true
    },
    /** Accepts a request. Throws if too many are in progress and this caller has several of them. */
    enter(request: Request, caller: string): void {
      if (targetMs === 0) return
      if (isFull(caller)) {
        noteRefusal()
        throw new OverloadError()
      }
      underWay += 1
      byCaller.set(caller, (byCaller.get(caller) ?? 0) + 1)
      begun.set(request, { caller, at: performance.now() })
    },
    /** Notes that the answer of a request is ready, or that its client has disconnected. */
    leave(request: Request): void {
      const known = begun.get(request)
      if (known === undefined) return
      begun.delete(request)
      const now = performance.now()
      adapt(now - known.at, now)
      underWay -= 1
      const own = (byCaller.get(known.caller) ?? 1) - 1
      if (own === 0) byCaller.delete(known.caller)
      else byCaller.set(known.caller, own)
    },
  }
}
