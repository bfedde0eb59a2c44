import { z } from 'zod'
import { reasonOf } from '../../lib/errors.ts'
import { defineJob, type Job } from '../../lib/job.ts'
import { type Claim, claimPull } from '../store/source-pulls.ts'
import type { SourceKey } from '../store/sources.ts'
import { takeInbox } from './inbox/inbox-job.ts'
import { PULL_JOB, queuePull } from './jobs.ts'
import { openPull } from './open-pull.ts'
import { writeExpired, writeRefusal } from './pull-outcome.ts'
import { pullPages } from './pull-pages.ts'
import type { PullParts } from './pull-parts.ts'

export function pullJob(parts: PullParts): Job {
  return defineJob({
    name: PULL_JOB,
    payload: z.object({ org_id: z.string(), instance_id: z.string() }),
    run: (key, signal) => runPull(parts, key, signal),
  })
}

/** Pulls a source that is due, page by page, for a turn of some seconds. Then other sources get their turn. */
export async function runPull(parts: PullParts, key: SourceKey, signal: AbortSignal): Promise<void> {
  const db = parts.store.org(key.org_id)
  const { claim, ...other } = await claimPull(db, key)
  if (claim === null) {
    // Another worker has the source, or it is not due. Look again at that time, in case the other worker does not
    // finish.
    if ('lookAt' in other && other.lookAt !== null) await queuePull(db, key, other.lookAt)
    return
  }
  if (claim.stop_at !== null && claim.stop_at <= claim.now) {
    await writeExpired(db, claim)
    return
  }
  const opened = await openPull(parts, claim)
  if ('hint' in opened) {
    await writeRefusal(db, claim, claim.walk, { ...opened, afterMs: null, failures: claim.failures })
    parts.log.warn({ ...about(claim), cause: opened.message }, 'a source was paused')
    return
  }
  const pulling =
    'receiver' in opened
      ? takeInbox(parts, db, { claimed: claim, opened }, signal)
      : pullPages(parts, db, { claimed: claim, opened }, signal)
  const ended = await pulling.catch((cause: unknown) => {
    parts.log.warn({ ...about(claim), cause: reasonOf(cause) }, 'a pull was interrupted; it continues later')
    throw cause
  })
  if (ended === null) return
  const { status, last_error, last_pull, walk } = ended
  if (last_error !== null)
    parts.log.warn({ ...about(claim), status, cause: last_error.message }, 'a pull was postponed')
  else if (walk === null && !('receiver' in opened))
    parts.log.info({ ...about(claim), status, ...last_pull }, 'a pull finished')
}

const about = ({ instance_id, slug }: Claim) => ({ source_instance_id: instance_id, source_id: slug })
