import { refusal, type Refusal } from '../catalog/provider/reply.ts'
import { reasonOf } from '../lib/errors.ts'
import { type PulledPage, readPage, stepOn } from '../sources/walk.ts'
import type { Db } from '../store/connection/db.ts'
import { MILLIS } from '../store/organisation/credits.ts'
import {
  type Claim,
  CLAIM_SECONDS,
  holdForPage,
  lockClaim,
  renewClaim,
} from '../store/sources/source-pulls.ts'
import type { SourceWalk } from '../store/sources/sources.ts'
import { judgeRefusal } from './faults.ts'
import type { OpenPull } from './open-pull.ts'
import { putAside, writeOutOfCredits, writePage, writeRefusal } from './pull-outcome.ts'
import type { PullParts } from './pull-parts.ts'

/** A turn: others wait for the few places that jobs have. */
const TURN_MS = 20_000
/** One page, with all the calls that it takes. */
const PAGE_MS = 150_000
const MAX_FREE = 1000
/** Records of one page are paid for in advance, and what is set aside is nobody else's meanwhile. */
const MAX_PAID = 100

type Room = { kind: 'room'; limit: number; claim: Claim } | { kind: 'none'; message: string; hint: string }

/** Answers the source as it was left; null when somebody else has it now. */
export async function pullPages(
  parts: PullParts,
  db: Db,
  claimed: Claim,
  opened: OpenPull,
  signal: AbortSignal,
): Promise<Claim | null> {
  const { source, reached } = opened
  const priceMillis = reached.isOwn ? 0 : Math.round(reached.pull.price * MILLIS)
  const started = performance.now()
  // Nothing that a page brings decides whether the next one may be read: it is read while this one is written.
  const readsAhead = priceMillis === 0 && claimed.max_records === null
  let claim = claimed
  let { walk } = opened
  let ahead: Promise<PulledPage | Refusal> | null = null
  try {
    for (;;) {
      if (signal.aborted || performance.now() - started > TURN_MS) return await putAside(db, claim, walk)
      const room = await makeRoom(db, claim, walk, priceMillis)
      if (room === null) return null
      if (room.kind === 'none') return await writeOutOfCredits(db, claim, walk, room)
      const { limit } = room
      claim = room.claim
      const page = await (ahead ?? read(walk.state, limit))
      ahead = null
      if ('kind' in page) {
        // A call that our own end cut off says nothing about the provider.
        if (signal.aborted) return await putAside(db, claim, walk)
        return await writeRefusal(db, claim, walk, judgeRefusal(page, reached.pull.provider, claim.failures))
      }
      const step = stepOn(walk.progress, walk.state, page)
      if (readsAhead && step.goesOn && page.afterMs === 0) {
        ahead = read(page.next, limit)
        // It is awaited with the next page; until then its failure must not count as unheard.
        ahead.catch(() => undefined)
      }
      const written = await writePage(db, claim, { reached, walk, page, step, limit, priceMillis })
      if (written === null || written.claimed_until === null) return written
      claim = written
      walk = written.walk ?? walk
    }
  } finally {
    // Whoever leaves with a page in hand leaves none of its calls behind.
    await ahead?.catch(() => undefined)
  }

  async function read(state: unknown, limit: number): Promise<PulledPage | Refusal> {
    const holding = setInterval(
      () => {
        renewClaim(db, claim).catch((cause: unknown) =>
          parts.log.warn({ cause: reasonOf(cause) }, 'a claim could not be renewed; it is tried again'),
        )
      },
      (CLAIM_SECONDS * 1000) / 3,
    )
    const equipment = { ...parts.equipment, signal: AbortSignal.any([signal, AbortSignal.timeout(PAGE_MS)]) }
    try {
      return await readPage(source, reached, { body: opened.body, state, limit }, equipment)
    } catch (cause) {
      signal.throwIfAborted()
      parts.log.error({ err: cause, source_id: source.slug }, 'the definition of a source is broken')
      return refusal('error', 'its definition failed; the log of the server says how')
    } finally {
      clearInterval(holding)
    }
  }
}

/** How many new records the next page may bring, with the credits for them set aside; null when the source is somebody else's. */
async function makeRoom(db: Db, claim: Claim, walk: SourceWalk, priceMillis: number): Promise<Room | null> {
  const left =
    claim.max_records === null ? MAX_FREE : Math.min(MAX_FREE, claim.max_records - claim.lead_count)
  if (priceMillis === 0 || walk.notes === true) return { kind: 'room', limit: left, claim }
  return db.transaction().execute(async (trx): Promise<Room | null> => {
    const locked = await lockClaim(trx, claim)
    if (locked === undefined) return null
    const { max_credits_millis: cap, spent_millis: spent } = locked
    const capped = cap === null ? MAX_PAID : Math.max(0, Math.floor((cap - spent) / priceMillis))
    const wanted = Math.min(left, MAX_PAID, capped)
    const limit = await holdForPage(trx, locked, { priceMillis, wanted })
    if (limit > 0) return { kind: 'room', limit, claim: { ...claim, held_millis: limit * priceMillis } }
    const price = priceMillis / MILLIS
    return capped === 0
      ? {
          kind: 'none',
          message: `max_credits of ${(cap ?? 0) / MILLIS} is used up: ${spent / MILLIS} were spent, and a record costs ${price}`,
          hint: 'create another source with a higher max_credits',
        }
      : {
          kind: 'none',
          message: `the organisation has too few credits: a record costs ${price}`,
          hint: 'grant credits; it goes on by itself',
        }
  })
}
