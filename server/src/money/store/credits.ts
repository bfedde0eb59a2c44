import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { newId } from '../../lib/ids.ts'
import { lockOrganisation } from '../../organisation/store/organisations.ts'
import { LEDGER_COLUMNS, type LedgerRecord } from './ledger.ts'
import { postCharges } from './limits/posting.ts'

/** The number of thousandths in a credit. Credits have three decimals and are stored as whole thousandths (D22). */
export const MILLIS = 1000

export async function getBalance(db: Db, orgId: string): Promise<number | undefined> {
  await postCharges(db, orgId)
  const found = await db
    .selectFrom('organisations')
    .select('credits_millis')
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return found?.credits_millis
}

/** Adds an amount with its ledger entry and returns the new balance. Call it in a transaction. */
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

export type Refundable = { entryId: string } | { runId: string }
export type Refund = { entries: number; amountMillis: number; balanceMillis: number }

const REFUND_CHUNK = 1000

/**
 * Refunds charges that have not been refunded yet, each by an entry that names its charge. Returns the number of entries and
 * the amounts. The lock on the organisation prevents two refunds of one charge. Call it in a transaction.
 */
export async function refundCharges(
  db: Db,
  orgId: string,
  which: Refundable,
  reason: string,
): Promise<Refund> {
  await postCharges(db, orgId)
  let { credits_millis: balance } = await lockOrganisation(db, orgId)
  const refund: Refund = { entries: 0, amountMillis: 0, balanceMillis: balance }
  for await (const charges of listCharges(db, orgId, which)) {
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
    if (entries.length > 0) await db.insertInto('credit_entries').values(entries).execute()
    refund.entries += entries.length
  }
  refund.amountMillis = balance - refund.balanceMillis
  refund.balanceMillis = balance
  await db.updateTable('organisations').set({ credits_millis: balance }).where('org_id', '=', orgId).execute()
  return refund
}

/** Yields charges that have not been refunded, some at a time: block by block, then those with entries of their own. */
async function* listCharges(db: Db, orgId: string, which: Refundable): AsyncGenerator<LedgerRecord[]> {
  const { rows: blocks } = await (
    'runId' in which
      ? sql<{ last_id: string }>`select last_id from credit_blocks
        where org_id = ${orgId} and run_id = ${which.runId} order by last_id`
      : sql<{ last_id: string }>`select last_id from (select first_id, last_id from credit_blocks
        where org_id = ${orgId} and last_id >= ${which.entryId} order by last_id limit 1) next
        where first_id <= ${which.entryId}`
  ).execute(db)
  const isWanted =
    'runId' in which ? sql<boolean>`e.run_id = ${which.runId}` : sql<boolean>`e.entry_id = ${which.entryId}`
  const isOpen = sql<boolean>`not exists (select from credit_entries r where r.org_id = e.org_id and r.refund_of = e.entry_id)`
  for (const { last_id } of blocks) {
    const { rows } = await sql<LedgerRecord>`select ${LEDGER_COLUMNS} from block_entries e
      where e.org_id = ${orgId} and e.block_id = ${last_id} and ${isWanted} and ${isOpen} order by e.entry_id`.execute(
      db,
    )
    yield rows
  }
  for (;;) {
    const { rows } = await sql<LedgerRecord>`select ${LEDGER_COLUMNS} from credit_entries e
      where e.org_id = ${orgId} and e.type = 'charge' and ${isWanted} and ${isOpen}
      order by e.entry_id limit ${sql.lit(REFUND_CHUNK)}`.execute(db)
    if (rows.length === 0) return
    yield rows
  }
}
