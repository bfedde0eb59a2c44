import { sql } from 'kysely'
import { newId } from '../../lib/ids.ts'
import type { Db } from '../connection/db.ts'
import { foldCharges } from '../purses/fold.ts'
import { lockOrganisation } from './organisations.ts'

/** Credits have three decimals and are stored as whole thousandths (D22). */
export const MILLIS = 1000

export async function getBalance(db: Db, orgId: string): Promise<number | undefined> {
  await foldCharges(db, orgId)
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
      type: 'grant',
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
  await foldCharges(db, orgId)
  return db
    .selectFrom('credit_entries')
    .select(['at', 'amount_millis', 'balance_millis', 'reason', 'details'])
    .where('org_id', '=', orgId)
    .orderBy('entry_id', 'desc')
    .limit(limit)
    .execute()
}

export type Refundable = { entryId: string } | { runId: string }
export type Refund = { entries: number; amountMillis: number; balanceMillis: number }

const REFUND_CHUNK = 1000

/**
 * Gives charges back that have not been given back yet, each by an entry of its own that names it, and answers what that came
 * to. The lock on the organisation keeps two refunds of one charge apart. Call it in a transaction.
 */
export async function refundCharges(
  db: Db,
  orgId: string,
  which: Refundable,
  reason: string,
): Promise<Refund> {
  const [column, id] =
    'runId' in which ? (['e.run_id', which.runId] as const) : (['e.entry_id', which.entryId] as const)
  await foldCharges(db, orgId)
  let { credits_millis: balance } = await lockOrganisation(db, orgId)
  const refund: Refund = { entries: 0, amountMillis: 0, balanceMillis: balance }
  for (;;) {
    const charges = await db
      .selectFrom('credit_entries as e')
      .selectAll()
      .where('e.org_id', '=', orgId)
      .where('e.type', '=', 'charge')
      .where(column, '=', id)
      .where(
        sql<boolean>`not exists (select from credit_entries r where r.org_id = e.org_id and r.refund_of = e.entry_id)`,
      )
      .orderBy('e.entry_id')
      .limit(REFUND_CHUNK)
      .execute()
    if (charges.length === 0) break
    const entries = charges.map(({ at: _at, details, providers, amount_millis, ...charge }) => {
      balance -= amount_millis
      return {
        ...charge,
        entry_id: newId(),
        type: 'refund' as const,
        amount_millis: -amount_millis,
        balance_millis: balance,
        reason,
        refund_of: charge.entry_id,
        details: JSON.stringify(details),
        providers: JSON.stringify(providers),
      }
    })
    await db.insertInto('credit_entries').values(entries).execute()
    refund.entries += entries.length
  }
  refund.amountMillis = balance - refund.balanceMillis
  refund.balanceMillis = balance
  await db.updateTable('organisations').set({ credits_millis: balance }).where('org_id', '=', orgId).execute()
  return refund
}
