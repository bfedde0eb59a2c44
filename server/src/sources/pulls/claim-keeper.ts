import type { Db } from '../../database/connection/db.ts'
import { reasonOf } from '../../lib/errors.ts'
import type { Log } from '../../lib/log.ts'
import { type Claim, CLAIM_SECONDS, renewClaim } from '../store/source-pulls.ts'

/** Renews the claim on a source while `work` runs. It reads the claim each time, because writes also renew it. */
export async function keepingClaim<Result>(
  { db, log }: { db: Db; log: Log },
  claim: () => Claim,
  work: () => Promise<Result>,
): Promise<Result> {
  const holding = setInterval(
    () => {
      renewClaim(db, claim()).catch((cause: unknown) =>
        log.warn({ cause: reasonOf(cause) }, 'the claim on a source could not be renewed; it is retried'),
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
