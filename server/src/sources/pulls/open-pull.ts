import { AppError } from '../../lib/errors.ts'
import type { Source } from '../define.ts'
import { isReached, type Reached, type ReachedLookup, reachLookups, reachSource } from '../reach.ts'
import type { Receiver } from '../receive.ts'
import { readStored } from '../request.ts'
import type { Claim } from '../store/source-pulls.ts'
import type { SourceWalk } from '../store/sources.ts'
import { START } from '../walk.ts'
import type { PullParts } from './pull-parts.ts'

/** An opened pull, with the state where its walk starts or continues. */
export type OpenPull = { source: Source; reached: Reached; body: Record<string, unknown>; walk: SourceWalk }
/** An opened inbox of a source that receives. */
export type OpenInbox = { source: Source; receiver: Receiver; lookups: ReachedLookup[] }
/** The reason why a source cannot be pulled, and what to do about it. */
export type Obstacle = { message: string; hint: string }

export async function openPull(parts: PullParts, claim: Claim): Promise<OpenPull | OpenInbox | Obstacle> {
  try {
    return await open(parts, claim)
  } catch (cause) {
    if (!(cause instanceof AppError && cause.code === 'SECRET_UNREADABLE')) throw cause
    return { message: cause.message, hint: 'follow the message, then resume the source' }
  }
}

async function open(
  { sources, keysOf, services }: PullParts,
  claim: Claim,
): Promise<OpenPull | OpenInbox | Obstacle> {
  const { org_id, owner_id, slug, provider, connection } = claim
  const source = sources.get(slug)
  if (source === undefined) {
    return { message: `the source type ${slug} no longer exists`, hint: 'create another source instead' }
  }
  const stored = readStored(source, claim.body)
  if (!stored.ok) {
    return {
      message: `its fields are no longer accepted: ${stored.message}`,
      hint: 'create the source again',
    }
  }
  const keys = keysOf({ org_id, member_id: owner_id })
  if (source.receives !== null) {
    // If the connection no longer exists, the lookups that need none still work.
    const lookups = await reachLookups(source.receives, connection, keys)
    const free = Array.isArray(lookups) ? lookups : await reachLookups(source.receives, null, keys)
    return { source, receiver: source.receives, lookups: Array.isArray(free) ? free : [] }
  }
  const context = { ...services, signal: new AbortController().signal }
  const reached = await reachSource(source, { provider, connection, body: stored.body }, keys, context)
  if (!isReached(reached)) {
    return { message: reached.message, hint: 'connect it again, then resume the source' }
  }
  return { source, reached, body: stored.body, walk: claim.walk ?? startWalk(claim, reached, stored.body) }
}

/** Starts a walk where the previous pull ended. The first pull may skip existing records. */
function startWalk(claim: Claim, { pull }: Reached, body: Record<string, unknown>): SourceWalk {
  const skips = !claim.pull_existing && claim.last_pull === null
  const skipped = skips ? pull.skipExisting(claim.created_at, body) : null
  return {
    state: skipped === null ? claim.resume : skipped.state,
    progress: START,
    started_at: claim.now.toISOString(),
    counts: { new: 0, updated: 0, unchanged: 0, skipped: 0, pages: 0 },
    ...(skips && skipped?.notes !== false ? { notes: true as const } : {}),
  }
}
