import { AppError } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'

/** Requests under way: where the limit begins and what it never exceeds, and what is let in however slow they are. */
const MAX_LIMIT = 256
const MIN_LIMIT = 32
/** Callers with fewer of their own are let in beyond the limit too: who floods the server keeps nobody else out. */
const OWN_SHARE = 4
/** The limit changes at most this often. */
const STEP_MS = 50
const SHRINK = 0.9
const LOG_MS = 10_000
/** Callers that come again are spread over some seconds. */
const MAX_RETRY_SECONDS = 3

export const retrySeconds = (): number => 1 + Math.floor(Math.random() * MAX_RETRY_SECONDS)

/** Refused since the server has enough to do: so often that each one is not worth a line in the log. */
export class OverloadError extends AppError {
  constructor() {
    super('Service Unavailable', 'The server has more to do than it can. Try again shortly', {
      retryAfter: retrySeconds(),
    })
  }
}

/**
 * Keeps answers quick when more is asked than can be done. How many requests may be under way follows from how long they take:
 * fewer while they take longer than `targetMs`, more while they do not. Others are refused at once, before they cost anything.
 * With a target of 0 nobody is refused.
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
      log.warn({ under_way: underWay, refused }, 'more requests than can be answered; some are refused')
      loggedAt = now
      refused = 0
    }
  }

  function adapt(ms: number, now: number): void {
    if (now - changedAt < STEP_MS) return
    changedAt = now
    if (ms <= targetMs) limit = Math.min(MAX_LIMIT, limit + 1)
    // A few slow ones are no sign of too many.
    else if (underWay >= limit / 2)
      limit = Math.max(MIN_LIMIT, Math.floor(Math.min(limit, underWay) * SHRINK))
  }

  return {
    /** Whether a request of this caller is to be refused; then it counts as refused. */
    refuses(callerOf: () => string): boolean {
      if (targetMs === 0 || underWay < limit || !isFull(callerOf())) return false
      noteRefusal()
      return true
    },
    /** Throws when there is too much under way, much of it by this caller. */
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
    /** Its answer is ready, or nobody waits for it any more. */
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
