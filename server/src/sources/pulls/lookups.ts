import { createHmac, randomBytes } from 'node:crypto'
import type { Provider } from '../../catalog/provider/provider.ts'
import type { Refusal } from '../../catalog/provider/reply.ts'
import type { Db } from '../../database/connection/db.ts'
import { MILLIS } from '../../money/store/credits.ts'
import { askThrough, type ReachedLookup, type SourceServices } from '../reach.ts'
import type { FoundCompany } from '../receive.ts'
import { findLookups, type KnownLookup, putLookups } from '../store/source-lookups.ts'
import { saltOfDay } from '../store/source-tokens.ts'

/** The company behind a subject, and the price of a new record for it. */
export type Resolved = { company: FoundCompany | null; priceMillis: number }
type Refused = { refusal: Refusal; provider: Provider }

type Wanted = { subjects: readonly string[]; lookups: readonly ReachedLookup[]; services: SourceServices }

const AT_ONCE = 10

/**
 * Looks up the companies behind subjects. Answers, also negative ones, are kept for a day under a hash with the salt of
 * the day. Refusals are not kept; the last one is returned.
 */
export async function lookUpSubjects(
  db: Db,
  { org_id }: { org_id: string },
  { subjects, lookups, services }: Wanted,
): Promise<{ found: Map<string, Resolved>; refused: Refused | null }> {
  const salt = subjects.length === 0 ? Buffer.alloc(0) : await saltOfDay(db, randomBytes(32))
  const hashSubject = (subject: string) =>
    createHmac('sha256', salt).update(`${org_id} ${subject}`).digest('base64url')
  const distinct = [...new Set(subjects)]
  const known = await findLookups(db, org_id, distinct.map(hashSubject))
  const dearest = Math.max(0, ...lookups.map(priceOf))
  const found = new Map<string, Resolved>()
  let refused: Refused | null = null
  const unknown = distinct.filter((subject) => {
    const kept = known.get(hashSubject(subject))
    if (kept !== undefined) found.set(subject, resolvedOf(kept, dearest))
    return kept === undefined
  })
  for (let at = 0; at < unknown.length; at += AT_ONCE) {
    const some = unknown.slice(at, at + AT_ONCE)
    const answers = await Promise.all(some.map((subject) => askInTurn(subject, lookups, services)))
    const kept: KnownLookup[] = []
    for (const [n, answer] of answers.entries()) {
      const subject = some[n] ?? ''
      if (answer.refused !== null) refused = answer.refused
      if (answer.refused !== null && answer.company === null) continue
      found.set(subject, answer)
      kept.push({ subject: hashSubject(subject), found: answer.company, price_millis: answer.priceMillis })
    }
    // Saved before the records are written: a crash must not repeat calls that were paid for.
    await putLookups(db, org_id, kept)
  }
  return { found, refused }
}

export const priceOf = ({ lookup, isFree }: ReachedLookup) => (isFree ? 0 : Math.round(lookup.price * MILLIS))

/** Returns no company for a paid lookup if its price may no longer be spent. */
function resolvedOf({ found, price_millis }: KnownLookup, dearest: number): Resolved {
  if (found === null || price_millis > dearest) return { company: null, priceMillis: 0 }
  return { company: found as FoundCompany, priceMillis: price_millis }
}

async function askInTurn(
  subject: string,
  lookups: readonly ReachedLookup[],
  services: SourceServices,
): Promise<Resolved & { refused: Refused | null }> {
  const { gate: _gate, ...context } = services
  let refused: Refused | null = null
  for (const reached of lookups) {
    const { lookup, key } = reached
    const ask = askThrough(lookup.provider, key, services)
    const answer = await lookup.find(subject, { ask, context })
    if (answer === null) continue
    if (!('kind' in answer)) return { company: answer, priceMillis: priceOf(reached), refused: null }
    refused = { refusal: answer, provider: lookup.provider }
  }
  return { company: null, priceMillis: 0, refused }
}
