import type { Db } from '../../../database/connection/db.ts'
import { inboxBinding } from '../../../lib/security/bindings.ts'
import { tryOpen } from '../../../lib/security/secrets.ts'
import type { ReachedLookup } from '../../reach.ts'
import type { ReceivedItem } from '../../receive.ts'
import { type InboxItem, listInbox } from '../../store/source-inbox.ts'
import type { Claim } from '../../store/source-pulls.ts'
import type { SourceFault } from '../../store/sources.ts'
import { keepingClaim } from '../claim-keeper.ts'
import { judgeRefusal, type Verdict } from '../faults.ts'
import { lookUpSubjects, priceOf, type Resolved } from '../lookups.ts'
import type { OpenInbox } from '../open-pull.ts'
import { putAside, writeOutOfCredits, writeRefusal } from '../pull-outcome.ts'
import { makeRoom } from '../pull-pages.ts'
import type { PullParts } from '../pull-parts.ts'
import { type TakenItem, writeInbox } from './inbox-outcome.ts'

/** The maximum time of a turn: other jobs wait for the few job slots. */
const TURN_MS = 20_000
const MAX_ITEMS = 50
/**
 * The number of attempts for a lookup that may succeed later. After that its visits count as unresolved, so that later
 * visits are processed.
 */
const MAX_TRIES = 5
const UNREADABLE_MS = 10 * 60_000

/**
 * Turns arrived items into records, batch by batch. Returns the source as it was left, or null if another worker has it
 * now.
 */
export async function takeInbox(
  parts: PullParts,
  db: Db,
  { claimed, opened }: { claimed: Claim; opened: OpenInbox },
  signal: AbortSignal,
): Promise<Claim | null> {
  const started = performance.now()
  let claim = claimed
  for (;;) {
    if (signal.aborted || performance.now() - started > TURN_MS) return putAside(db, claim, null)
    const lookups = affordable(opened.lookups, claim)
    const recordMillis = Math.max(0, ...lookups.map(priceOf))
    const room = await makeRoom(db, claim, {}, { recordMillis, pageMillis: 0 })
    if (room === null) return null
    if (room.kind === 'none') return writeOutOfCredits(db, claim, null, room)
    claim = room.claim
    const items = await listInbox(db, claim, Math.min(room.limit, MAX_ITEMS))
    const taken = await keepingClaim(
      { db, log: parts.log },
      () => claim,
      () => resolve(parts, db, { claim, items, lookups, opened, signal }),
    )
    if ('kind' in taken) {
      if (signal.aborted) return putAside(db, claim, null)
      return writeRefusal(db, claim, null, taken.verdict)
    }
    const written = await writeInbox(db, claim, { source: opened.source, ...taken })
    if (written === null || written.claimed_until === null) return written
    claim = written
  }
}

/** Returns the lookups that `max_credits` still allows. Free lookups continue. */
function affordable(lookups: readonly ReachedLookup[], claim: Claim): ReachedLookup[] {
  const { max_credits_millis: cap, spent_millis: spent } = claim
  return lookups.filter((reached) => cap === null || priceOf(reached) <= cap - spent)
}

type Resolving = {
  claim: Claim
  items: InboxItem[]
  lookups: ReachedLookup[]
  opened: OpenInbox
  signal: AbortSignal
}
type Batch = { items: TakenItem[]; error: SourceFault | null }
type Postponed = { kind: 'postponed'; verdict: Verdict }

async function resolve(
  { sealer, services, log }: PullParts,
  db: Db,
  { claim, items, lookups, opened, signal }: Resolving,
): Promise<Batch | Postponed> {
  const texts = items.map(({ sealed }) => tryOpen(sealer, sealed, inboxBinding(claim)))
  const unread = texts.filter((text) => text === null).length
  // Items that cannot be decrypted stay in the inbox: they can be opened once the secret is configured again.
  if (unread > 0) return { kind: 'postponed', verdict: waitForSecret(unread, claim) }
  const read = items.map(({ item_no: no, at }, n) => ({ no, at, item: readItem(texts[n] ?? '') }))
  const subjects = read.flatMap(({ item }) => item?.subject ?? [])
  const { found, refused } = await lookUpSubjects(db, claim, {
    subjects,
    lookups,
    services: { ...services, gate: services.gates.of(claim.org_id), signal, owner: claim.org_id },
  })
  const verdict = refused === null ? null : judgeRefusal(refused.refusal, refused.provider, claim.failures)
  if (verdict !== null && verdict.afterMs !== null && claim.failures < MAX_TRIES)
    return { kind: 'postponed', verdict }
  const ofItem = (item: ReceivedItem | null): Resolved =>
    found.get(item?.subject ?? '') ?? { company: null, priceMillis: 0 }
  return {
    items: read.map(({ no, at, item }) => ({ no, at, item, ...ofItem(item) })),
    error:
      verdict === null ? null : { at: claim.now.toISOString(), message: verdict.message, hint: verdict.hint },
  }

  function readItem(text: string): ReceivedItem | null {
    try {
      return opened.receiver.read(JSON.parse(text))
    } catch (cause) {
      log.error(
        { err: cause, source_instance_id: claim.instance_id },
        'an item that arrived for a source cannot be read',
      )
      return null
    }
  }
}

const waitForSecret = (unread: number, { failures }: Claim): Verdict => ({
  afterMs: UNREADABLE_MS,
  failures: failures + 1,
  message: `${unread} of the waiting visits cannot be decrypted: they were encrypted with a secret that is not in LOAM_SECRET`,
  hint: 'add that secret after a comma (LOAM_SECRET=new,old); visits are kept for a day',
})
