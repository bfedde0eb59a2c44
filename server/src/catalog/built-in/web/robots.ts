import type { Egress, EgressFailure } from '../../../lib/egress/egress.ts'
import { createMemo, type Memo, type MemoLimits } from '../../../lib/memo.ts'
import { readRetryAfter } from '../../http/reply.ts'
import { parseRobots, type RobotsRules } from './robots-rules.ts'

/** What a site lets programs read (RFC 9309). */
export type Robots =
  | ({ kind: 'rules' } & RobotsRules)
  /** It cannot be known now, which means no: RFC 9309, 2.3.1.4. */
  | { kind: 'unknown'; message: string; afterMs?: number | undefined; failure?: EgressFailure }

/** The name by which robots.txt files speak to this program, and by which pages are asked for. */
const ROBOT = 'Loam'
export const USER_AGENT = `Mozilla/5.0 (compatible; ${ROBOT}/0.1)`

const KEPT: MemoLimits<Robots> = {
  max: 2_000,
  ttlMs: 10 * 60_000,
  bytes: { max: 32 * 1024 * 1024, of: (robots) => (robots.kind === 'rules' ? robots.size : 0) },
}
const TIMEOUT_MS = 15_000
const MAX_BYTES = 1_000_000

const kept = new WeakMap<Egress, Memo<Robots>>()

/** The rules of an origin, asked for once in ten minutes by a process. What could not be read is not kept. */
export function robotsOf(egress: Egress, origin: string): Promise<Robots> {
  const remember = kept.get(egress) ?? createMemo(KEPT, ({ kind }) => kind === 'rules')
  kept.set(egress, remember)
  return remember(origin, () => fetchRobots(egress, origin))
}

async function fetchRobots(egress: Egress, origin: string): Promise<Robots> {
  const url = `${origin}/robots.txt`
  const headers = { 'user-agent': USER_AGENT }
  const reply = await egress.fetch({ url, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES })
  if (!reply.ok) {
    // A redirect that leads nowhere is no robots.txt; a host that does not answer is not to be disturbed.
    if (reply.kind === 'too_many_redirects') return rulesOf('')
    return { kind: 'unknown', message: reply.message, failure: reply }
  }
  if (reply.status === 429 || reply.status >= 500) {
    const afterMs = readRetryAfter(reply.header('retry-after'), new Date())
    return { kind: 'unknown', message: `${url} answers HTTP ${reply.status}`, afterMs }
  }
  return rulesOf(reply.status < 300 ? reply.text() : '')
}

const rulesOf = (text: string): Robots => ({ kind: 'rules', ...parseRobots(text, ROBOT) })
