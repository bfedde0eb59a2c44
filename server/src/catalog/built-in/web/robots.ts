import parser from 'robots-parser'
import type { Egress, EgressFailure } from '../../../lib/egress/egress.ts'
import { readRetryAfter } from '../../http/reply.ts'

/** What a site lets programs read (RFC 9309). */
export type Robots =
  | { kind: 'rules'; allows: (url: string) => boolean; sitemaps: string[] }
  /** It cannot be known now, which means no: RFC 9309, 2.3.1.4. */
  | { kind: 'unknown'; message: string; afterMs?: number | undefined; failure?: EgressFailure }

/** The name by which robots.txt files speak to this program, and by which pages are asked for. */
export const ROBOT = 'Loam'
export const USER_AGENT = `Mozilla/5.0 (compatible; ${ROBOT}/0.1)`

// Its types speak of a default export; the module itself is the function.
const createRules = parser as unknown as typeof parser.default

const KEEP_MS = 10 * 60_000
const MAX_KEPT = 2_000
const TIMEOUT_MS = 15_000
// RFC 9309 asks for at least 500 KiB.
const MAX_BYTES = 1_000_000

type Kept = { robots: Promise<Robots>; until: number }
const kept = new WeakMap<Egress, Map<string, Kept>>()

/** The rules of an origin, asked for once in ten minutes by a process. What could not be read is not kept. */
export function robotsOf(egress: Egress, origin: string): Promise<Robots> {
  const known = kept.get(egress) ?? new Map<string, Kept>()
  kept.set(egress, known)
  const now = Date.now()
  const found = known.get(origin)
  if (found !== undefined && found.until > now) return found.robots
  const robots = fetchRobots(egress, origin)
  known.delete(origin)
  known.set(origin, { robots, until: now + KEEP_MS })
  const oldest = known.keys().next().value
  if (known.size > MAX_KEPT && oldest !== undefined) known.delete(oldest)
  const forget = () => {
    if (known.get(origin)?.robots === robots) known.delete(origin)
  }
  robots.then(({ kind }) => (kind === 'unknown' ? forget() : undefined), forget)
  return robots
}

async function fetchRobots(egress: Egress, origin: string): Promise<Robots> {
  const url = `${origin}/robots.txt`
  const headers = { 'user-agent': USER_AGENT }
  const reply = await egress.fetch({ url, headers, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES })
  if (!reply.ok) {
    // A redirect that leads nowhere is no robots.txt; a host that does not answer is not to be disturbed.
    if (reply.kind === 'too_many_redirects') return rulesOf(url, '')
    return { kind: 'unknown', message: reply.message, failure: reply }
  }
  if (reply.status === 429 || reply.status >= 500) {
    const afterMs = readRetryAfter(reply.header('retry-after'), new Date())
    return { kind: 'unknown', message: `${url} answers HTTP ${reply.status}`, afterMs }
  }
  return rulesOf(url, reply.status < 300 ? reply.text() : '')
}

function rulesOf(url: string, text: string): Robots {
  const rules = createRules(url, text)
  return {
    kind: 'rules',
    allows: (page) => rules.isAllowed(page, ROBOT) ?? true,
    sitemaps: rules.getSitemaps(),
  }
}
