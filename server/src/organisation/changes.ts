import { type Db, inTransaction } from '../database/connection/db.ts'
import { AppError } from '../lib/errors.ts'
import { type Actor, recordAudit } from './store/audit.ts'
import { shareLockMember } from './store/members.ts'

/** A member who makes or changes something. */
export type Author = Actor & { orgId: string; memberId: string }

type Entry = Parameters<typeof recordAudit>[3]

/**
 * Does `work` with its audit entry in one transaction. The entry comes first, and with it a hold on the organisation: it stays
 * while anything inside it is locked.
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

/** As `recordChange`, for work that makes something the author owns. */
export async function recordCreation<Result>(
  db: Db,
  author: Author,
  entry: Entry,
  work: (trx: Db) => Promise<Result>,
): Promise<Result> {
  return recordChange(db, author, entry, async (trx) => {
    if (!(await shareLockMember(trx, author.orgId, author.memberId))) {
      throw new AppError('Unauthorized', 'The owner of this key was removed')
    }
    return work(trx)
  })
}
