import type { Db } from '../../database/connection/db.ts'
import { reasonOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { type Claim, CLAIM_SECONDS, renewClaim } from '../store/source-pulls.ts'

/** Keeps a source from others while `work` takes long. The claim is asked for each time: writes meanwhile renew it too. */
export async function keepingClaim<Result>(
  { db, log }: { db: Db; log: Log },
  claim: () => Claim,
  work: () => Promise<Result>,
): Promise<Result> {
  const holding = setInterval(
    () => {
      renewClaim(db, claim()).catch((cause: unknown) =>
        log.warn({ cause: reasonOf(cause) }, 'a claim could not be renewed; it is tried again'),
      )
    },
    (CLAIM_SECONDS * 1000) / 3,
  )
  try {
    return await work()
  } finally {
    clearInterval(holding)
  }
}
