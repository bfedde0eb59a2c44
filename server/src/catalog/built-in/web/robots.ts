import type { Egress, EgressFailure } from '../../../lib/egress/egress.ts'
import { createMemo, type Memo, type MemoLimits } from '../../../lib/memo.ts'
import { pause } from '../../../lib/timing/turns.ts'
import { readRetryAfter } from '../../http/reply.ts'
import { parseRobots, type RobotsRules } from './robots-rules.ts'

/** The parts of a site that programs may read (RFC 9309). */
export type Robots =
  | ({ kind: 'rules' } & RobotsRules)
  /** The rules are not known now, so nothing may be read: RFC 9309, 2.3.1.4. */
  | { kind: 'unknown'; message: string; afterMs?: number | undefined; failure?: EgressFailure }

/** The name of this program in robots.txt files and in its requests. */
const ROBOT = 'Loam'
export const USER_AGENT = `Mozilla/5.0 (compatible; ${ROBOT}/0.1)`

const MEMO_LIMITS: MemoLimits<Robots> = {
  max: 2_000,
  ttlMs: 10 * 60_000,
  bytes: { max: 32 * 1024 * 1024, of: (robots) => (robots.kind === 'rules' ? robots.size : 0) },
}
const TIMEOUT_MS = 15_000
const MAX_BYTES = 1_000_000

const memos = new WeakMap<Egress, Memo<Robots>>()

/** Returns the rules of an origin. A process requests them once in ten minutes. A failure is not cached. */
export function robotsOf(egress: Egress, origin: string): Promise<Robots> {
  const remember = memos.get(egress) ?? createMemo(MEMO_LIMITS, ({ kind }) => kind === 'rules')
  memos.set(egress, remember)
  return remember(origin, () => fetchRobots(egress, origin))
}

async function fetchRobots(egress: Egress, origin: string): Promise<Robots> {
  const url = `${origin}/robots.txt`
  const headers = { 'user-agent': USER_AGENT }
  const reply = await egress.fetch({ url, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES })
  if (!reply.ok) {
    // Too many redirects count as no robots.txt. If the host does not answer, it is left alone.
    if (reply.kind === 'too_many_redirects') return rulesOf('')
    return { kind: 'unknown', message: reply.message, failure: reply }
  }
  if (reply.status === 429 || reply.status >= 500) {
    const afterMs = readRetryAfter(reply.header('retry-after'), new Date())
    return { kind: 'unknown', message: `${url} answers HTTP ${reply.status}`, afterMs }
  }
  const text = reply.status < 300 ? await reply.text() : ''
  await pause()
  return rulesOf(text)
}

const rulesOf = (text: string): Robots => ({ kind: 'rules', ...parseRobots(text, ROBOT) })
