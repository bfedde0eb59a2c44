import { sql } from 'kysely'
import type { Db } from '../connection/db.ts'

export type IdempotentCall = { orgId: string; memberId: string; key: string; fingerprint: Buffer }

export type Claim =
  | { state: 'ours' }
  | { state: 'in_progress' }
  | { state: 'other_payload' }
  | { state: 'done'; status: number; body: string }

/** Claims the key for this call, or says what became of the call that claimed it before (D14). */
export async function claimCall(db: Db, call: IdempotentCall): Promise<Claim> {
  // A claim that was not settled within two minutes belongs to a process that died.
  const { rows } = await sql`
    insert into idempotency_keys as k (org_id, member_id, key, fingerprint)
    values (${call.orgId}, ${call.memberId}, ${call.key}, ${call.fingerprint})
    on conflict (org_id, member_id, key) do update
      set fingerprint = excluded.fingerprint, status = null, body = null, created_at = now()
      where k.created_at < now() - interval '24 hours'
        or (k.status is null and k.created_at < now() - interval '2 minutes')
    returning key`.execute(db)
  if (rows.length > 0) return { state: 'ours' }

  const earlier = await db
    .selectFrom('idempotency_keys')
    .select(['fingerprint', 'status', 'body'])
    .where('org_id', '=', call.orgId)
    .where('member_id', '=', call.memberId)
    .where('key', '=', call.key)
    .executeTakeFirst()
  // Gone in between: the earlier call failed and gave its claim back. The caller may simply try again.
  if (earlier === undefined) return { state: 'in_progress' }
  if (!earlier.fingerprint.equals(call.fingerprint)) return { state: 'other_payload' }
  if (earlier.status === null || earlier.body === null) return { state: 'in_progress' }
  return { state: 'done', status: earlier.status, body: earlier.body }
}

export async function settleCall(db: Db, call: IdempotentCall, status: number, body: string): Promise<void> {
  const open = db.updateTable('idempotency_keys').set({ status, body }).where('status', 'is', null)
  await ofCall(open, call).execute()
}

/** Gives the claim back, so that the same call can be tried again. */
export async function releaseCall(db: Db, call: IdempotentCall): Promise<void> {
  await ofCall(db.deleteFrom('idempotency_keys').where('status', 'is', null), call).execute()
}

export async function forgetOldCalls(db: Db): Promise<void> {
  await sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`.execute(db)
}

function ofCall<
  Statement extends { where(column: 'org_id' | 'member_id' | 'key', op: '=', value: string): Statement },
>(statement: Statement, call: IdempotentCall): Statement {
  return statement
    .where('org_id', '=', call.orgId)
    .where('member_id', '=', call.memberId)
    .where('key', '=', call.key)
}
