import { refusal, type Refusal } from '../../catalog/provider/reply.ts'
import type { Db } from '../../database/connection/db.ts'
import { plural } from '../../lib/plural.ts'
import { takeTurn } from '../../lib/timing/fair-turns.ts'
import { MILLIS } from '../../money/store/credits.ts'
import type { Refusal as Lack } from '../../money/store/limits/leasing.ts'
import { holdForPage } from '../store/source-holds.ts'
import { type Claim, lockClaim } from '../store/source-pulls.ts'
import { measureRecords } from '../store/source-records.ts'
import type { SourceWalk } from '../store/sources.ts'
import { type PulledPage, readPage } from '../walk.ts'
import { keepingClaim } from './claim-keeper.ts'
import { judgeRefusal, type Verdict } from './faults.ts'
import type { OpenPull } from './open-pull.ts'
import { BATCH_LIMITS, ONE_PAGE, type PageBatch, readBatch } from './page-batch.ts'
import { type Prices, findPullPrices } from './prices.ts'
import { putAside, writeBatch, writeOutOfCredits, writeRefusal } from './pull-outcome.ts'
import type { PullParts } from './pull-parts.ts'

/** The maximum time of a turn: other jobs wait for the few job slots. */
const TURN_MS = 20_000
/** The timeout of one page, with all its calls. */
const PAGE_MS = 150_000
/** The retry delay when storage is full. Users rarely make room within minutes. */
const ROOM_AFTER_MS = 3_600_000
/**
 * The maximum number of new records between two writes. Their credits are reserved first, so nothing else can spend
 * them.
 */
const MAX_RECORDS = 1000

type Room =
  /** `limit` is how many records are requested, `most` how many of them are stored: some providers ignore the limit. */
  | { kind: 'room'; limit: number; most: number; claim: Claim }
  | { kind: 'none'; message: string; hint: string }

/** Returns the source as it was left, or null if another worker has it now. */
export async function pullPages(
  parts: PullParts,
  db: Db,
  { claimed, opened }: { claimed: Claim; opened: OpenPull },
  signal: AbortSignal,
): Promise<Claim | null> {
  const { source, reached } = opened
  const prices = findPullPrices(reached)
  const notBefore = claimed.pull_existing ? null : claimed.created_at
  const started = performance.now()
  // A model's answer is written before the next is requested: it is too expensive to get twice.
  const limits = reached.model === null ? (parts.batches ?? BATCH_LIMITS) : ONE_PAGE
  // No limit depends on the pages read, so the next pages are read while these are written.
  const readsAhead = prices.recordMillis === 0 && claimed.max_records === null && reached.model === null
  let claim = claimed
  let { walk } = opened
  let ahead: Promise<PageBatch | Refusal> | null = null
  try {
    for (;;) {
      if (signal.aborted || performance.now() - started > TURN_MS) return await putAside(db, claim, walk)
      const full = await findFull(db, claim, walk)
      if (full !== null) return await writeRefusal(db, claim, walk, full)
      const room = await makeRoom(db, claim, walk, prices)
      if (room === null) return null
      if (room.kind === 'none') return await writeOutOfCredits(db, claim, walk, room)
      const { limit, most } = room
      claim = room.claim
      const batch: PageBatch | Refusal = await (ahead ?? readBatch(read, { ...walk, limit }, limits))
      ahead = null
      if ('kind' in batch) {
        // A call cut off by our own shutdown says nothing about the provider.
        if (signal.aborted) return await putAside(db, claim, walk)
        return await writeRefusal(db, claim, walk, judgeRefusal(batch, reached.pull.provider, claim.failures))
      }
      const { step, last } = batch
      const next: Refusal | null = batch.refusal
      if (next !== null) ahead = Promise.resolve(next)
      else if (readsAhead && step.goesOn && last.afterMs === 0) {
        ahead = readBatch(read, { state: last.next, progress: step.progress, limit }, limits)
        // The promise is awaited with the next batch. Until then its failure must not count as an unhandled rejection.
        ahead.catch(() => undefined)
      }
      const result = { walk, batch, most, prices }
      const holder = claim
      const written = await takeTurn(holder.org_id, () => writeBatch(db, holder, result))
      if (written === null || written.claimed_until === null) return written
      claim = written
      walk = written.walk ?? walk
    }
  } finally {
    // Waits for calls still in progress, so that none outlives the turn.
    await ahead?.catch(() => undefined)
  }

  async function read(state: unknown, limit: number): Promise<PulledPage | Refusal> {
    // A signal of `AbortSignal.timeout` would stay in memory with its listeners until its time, once per page.
    const page = new AbortController()
    const timer = setTimeout(() => page.abort(new Error('the page took too long')), PAGE_MS)
    const end = () => page.abort(signal.reason)
    signal.addEventListener('abort', end, { once: true })
    const gate = parts.services.gates.of(claim.org_id)
    const services = { ...parts.services, gate, signal: page.signal, owner: claim.org_id }
    try {
      return await keepingClaim(
        { db, log: parts.log },
        () => claim,
        () => readPage(source, reached, { body: opened.body, state, limit, notBefore }, services),
      )
    } catch (cause) {
      signal.throwIfAborted()
      parts.log.error({ err: cause, source_id: source.slug }, 'the definition of a source is broken')
      return refusal('error', 'the definition of the source failed; see the server log')
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
    }
  }
}

/**
 * Returns a verdict if the organisation's records are at their limit. An endless source would otherwise fill the disk,
 * so records are limited as rows are.
 */
async function findFull(db: Db, { org_id, failures }: Claim, walk: SourceWalk): Promise<Verdict | null> {
  const { records, limit } = await measureRecords(db, org_id)
  const noted = walk.notes === true ? walk.counts.unchanged : 0
  if (limit === null || records + noted < limit) return null
  return {
    afterMs: ROOM_AFTER_MS,
    failures,
    message: `your organisation has ${plural(records + noted, 'record')} of sources, and its limit is ${limit} (LOAM_ROWS_PER_ORG)`,
    hint: 'delete sources that you no longer need, or ask the operator for a higher limit; the pull is retried automatically',
  }
}

/**
 * Returns how many new records the next pages may bring, and reserves the credits for them. Returns null if another
 * worker has the source now.
 */
export async function makeRoom(
  db: Db,
  claim: Claim,
  walk: Pick<SourceWalk, 'notes'>,
  prices: Prices,
): Promise<Room | null> {
  const left = claim.max_records === null ? Infinity : claim.max_records - claim.lead_count
  const limit = Math.max(1, Math.min(MAX_RECORDS, left))
  const isByPage = prices.pageMillis > 0
  const isFree = walk.notes === true || left <= 0
  const priceMillis = isByPage ? prices.pageMillis : isFree ? 0 : prices.recordMillis
  if (priceMillis === 0) return { kind: 'room', limit, most: left, claim }
  return db.transaction().execute(async (trx): Promise<Room | null> => {
    const locked = await lockClaim(trx, claim)
    if (locked === undefined) return null
    const { max_credits_millis: cap, spent_millis: spent } = locked
    const capped = cap === null ? limit : Math.max(0, Math.floor((cap - spent) / priceMillis))
    const wanted = Math.min(isByPage ? 1 : limit, capped)
    const { records: held, refusal: lack } = await holdForPage(trx, locked, { priceMillis, wanted })
    if (held > 0) {
      const room = isByPage ? { limit, most: left } : { limit: held, most: held }
      return { kind: 'room', ...room, claim: { ...claim, held_millis: held * priceMillis } }
    }
    const costs = `a ${isByPage ? 'page' : 'record'} costs ${priceMillis / MILLIS}`
    return capped === 0
      ? {
          kind: 'none',
          message: `max_credits of ${(cap ?? 0) / MILLIS} is used up: ${spent / MILLIS} were spent, and ${costs}`,
          hint: 'raise max_credits, by PATCH /sources/{source_instance_id} or `loam source set`; the pull then continues by itself',
        }
      : { kind: 'none', ...describeLack(lack, costs) }
  })
}

/** Describes the account or budget that is too low, and what to do. */
function describeLack(lack: Lack | null, costs: string): { message: string; hint: string } {
  const left = `${(lack?.leftMillis ?? 0) / MILLIS} are left`
  return lack?.kind === 'budget'
    ? {
        message: `the budget "${lack.name ?? ''}" does not allow for more: ${costs}, and ${left} of it`,
        hint: 'raise the budget, or wait for its next period; the pull then continues by itself',
      }
    : {
        message: `the organisation has too few credits: ${costs}, and ${left} of the balance`,
        hint: 'grant credits; the pull then continues by itself',
      }
}
