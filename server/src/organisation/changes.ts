import { type Db, inTransaction } from '../database/connection/db.ts'
import { AppError } from '../lib/errors.ts'
import { type Actor, recordAudit } from './store/audit.ts'
import { shareLockMember } from './store/members.ts'

/** A member who creates or changes something. */
export type Author = Actor & { orgId: string; memberId: string }

type Entry = Parameters<typeof recordAudit>[3]

/**
 * Runs `work` together with its audit entry in one transaction. The entry is inserted first: it takes a lock
 * that keeps the organisation from being deleted while anything inside it is locked.
 */
export async function recordChange<Result>(
  db: Db,
  author: Author,
  entry: Entry,
  work: (trx: Db) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, async (trx) => {
    await recordAudit(trx, author.orgId, author, entry)
    return work(trx)
  })
}

/** Works like `recordChange`, for work that creates something the author owns. */
export async function recordCreation<Result>(
  db: Db,
  author: Author,
  entry: Entry,
  work: (trx: Db) => Promise<Result>,
): Promise<Result> {
  return recordChange(db, author, entry, async (trx) => {
    if (!(await shareLockMember(trx, author.orgId, author.memberId))) {
      throw new AppError('Unauthorized', 'The owner of this API key is no longer a member')
    }
    return work(trx)
  })
}
