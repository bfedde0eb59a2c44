import { newId } from '../../lib/ids.ts'
import type { Db } from '../connection/db.ts'
import { lockOrganisation } from './organisations.ts'

/** Credits have three decimals and are stored as whole thousandths (D22). */
export const MILLIS = 1000

export async function getBalance(db: Db, orgId: string): Promise<number | undefined> {
  const found = await db
    .selectFrom('organisations')
    .select('credits_millis')
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return found?.credits_millis
}

/** Adds an amount with its ledger entry and answers the new balance. Call it in a transaction. */
export async function grantCredits(
  db: Db,
  orgId: string,
  grant: { amountMillis: number; reason: string },
): Promise<number> {
  const before = await lockOrganisation(db, orgId)
  const balance = before.credits_millis + grant.amountMillis
  await db.updateTable('organisations').set({ credits_millis: balance }).where('org_id', '=', orgId).execute()
  await db
    .insertInto('credit_entries')
    .values({
      org_id: orgId,
      entry_id: newId(),
      amount_millis: grant.amountMillis,
      balance_millis: balance,
      reason: grant.reason,
    })
    .execute()
  return balance
}

export type CreditEntry = {
  at: Date
  amount_millis: number
  balance_millis: number
  reason: string
  details: Record<string, unknown>
}

/** The ledger, newest entry first. */
export async function listCreditEntries(db: Db, orgId: string, limit: number): Promise<CreditEntry[]> {
  return db
    .selectFrom('credit_entries')
    .select(['at', 'amount_millis', 'balance_millis', 'reason', 'details'])
    .where('org_id', '=', orgId)
    .orderBy('entry_id', 'desc')
    .limit(limit)
    .execute()
}
