import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { newId } from '../../lib/ids.ts'
import { answerBinding } from '../../lib/security/bindings.ts'
import { type Sealer, tryOpen, unreadable } from '../../lib/security/secrets.ts'

export type IdempotentCall = {
  orgId: string
  memberId: string
  /** The id of the API key or session that sent the call. Idempotency keys are stored by it (D99). */
  keyId: string
  key: string
  fingerprint: Buffer
  /** Seals the answer, which may contain a new key or token that is shown only once. */
  sealer: Sealer
}

/** The answer to a call, with the run that it names in a header (D78). */
export type KeptAnswer = { status: number; body: string; runId: string | null }

export type Claim =
  | { state: 'ours' }
  | { state: 'in_progress' }
  | { state: 'other_payload' }
  | ({ state: 'done' } & KeptAnswer)

/**
 * Claims the key until the end of the caller's transaction, which must contain the effect and the answer of
 * the call. If the key is taken, returns the state of the earlier call (D14). A process that dies loses its
 * claim together with its effect.
 */
export async function claimCall(trx: Db, call: IdempotentCall): Promise<Claim> {
  if (!trx.isTransaction) throw new Error('an idempotency key must be claimed inside a transaction')
  const name = `idempotency key ${call.orgId} ${call.keyId} ${call.key}`
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as locked`.execute(trx)
  if (rows[0]?.locked !== true) return { state: 'in_progress' }
  // A separate statement: only a statement that begins after the lock was taken sees all earlier answers.
  const earlier = await findCall(trx, call)
  if (earlier === undefined) return { state: 'ours' }
  const isSame = earlier.fingerprint.equals(call.fingerprint)
  // A refusal had no effect: the corrected request may use the same key.
  const isMended = !isSame && earlier.status !== null && earlier.status >= 400
  if (earlier.is_over || isMended) {
    await whereCall(trx.deleteFrom('idempotency_keys'), call).execute()
    return { state: 'ours' }
  }
  if (!isSame) return { state: 'other_payload' }
  const body = openBody(call, earlier)
  if (earlier.status === null || body === null) return { state: 'in_progress' }
  return { state: 'done', status: earlier.status, body, runId: earlier.run_id }
}

/**
 * Finds the earlier call with this key. It is over after 24 hours. Without an answer it is over when its run
 * of the agent has ended, or its lease.
 */
async function findCall(trx: Db, call: IdempotentCall) {
  const { rows } = await sql<KeptCall>`
    select fingerprint, status, body, body_sealed, run_id,
      created_at < now() - interval '24 hours'
        or (status is null and coalesce(leased_until < now(), not exists (
          select from agent_runs a
          where a.org_id = k.org_id and a.agent_run_id = k.agent_run_id and a.state = 'running'))) as is_over
    from idempotency_keys k
    where org_id = ${call.orgId} and key_id = ${call.keyId} and key = ${call.key}`.execute(trx)
  return rows[0]
}

type KeptBody = { body: string | null; body_sealed: string | null }
type KeptCall = KeptBody & {
  fingerprint: Buffer
  status: number | null
  run_id: string | null
  is_over: boolean
}

const bindingOf = ({ orgId, memberId, key }: IdempotentCall) =>
  answerBinding({ org_id: orgId, member_id: memberId, key })

function openBody(call: IdempotentCall, { body, body_sealed }: KeptBody): string | null {
  if (body_sealed === null) return body
  const opened = tryOpen(call.sealer, body_sealed, bindingOf(call))
  if (opened !== null) return opened
  throw unreadable(
    'The stored answer for this Idempotency-Key',
    'check whether the first request took effect, and use a new key for a new request',
  )
}

/** Returns the stored answer to the same call, if it had an effect. */
export async function findAnswer(db: Db, call: IdempotentCall): Promise<KeptAnswer | undefined> {
  const earlier = await findCall(db, call)
  if (earlier === undefined || earlier.is_over || !earlier.fingerprint.equals(call.fingerprint))
    return undefined
  const { status, run_id: runId } = earlier
  if (status === null || status >= 400) return undefined
  const body = openBody(call, earlier)
  return body === null ? undefined : { status, body, runId }
}

/** Stores the answer, in the transaction of its effect. */
export async function settleCall(
  db: Db,
  call: IdempotentCall,
  { status, body, runId }: KeptAnswer,
): Promise<void> {
  const body_sealed = call.sealer.seal(body, bindingOf(call))
  await putCall(db, call, { status, body_sealed, run_id: runId, agent_run_id: null })
}

/** Keeps the call in progress beyond its transaction, as long as the agent run. */
export async function handCallToRun(trx: Db, call: IdempotentCall, agentRunId: string): Promise<void> {
  await putCall(trx, call, { status: null, body_sealed: null, run_id: null, agent_run_id: agentRunId })
}

async function putCall(
  db: Db,
  { orgId, memberId, keyId, key, fingerprint }: IdempotentCall,
  state: Record<'body_sealed' | 'run_id' | 'agent_run_id', string | null> & { status: number | null },
): Promise<void> {
  await db
    .insertInto('idempotency_keys')
    .values({ org_id: orgId, member_id: memberId, key_id: keyId, key, fingerprint, ...state })
    .onConflict((conflict) => conflict.columns(['org_id', 'key_id', 'key']).doUpdateSet(state))
    .execute()
}

/** The duration of a lease: longer than a call to another service may take. */
const LEASE = sql<Date>`now() + interval '2 minutes'`

/**
 * Keeps the call in progress beyond its transaction, until the lease ends. Returns the id needed to store its
 * answer.
 */
export async function leaseCall(
  trx: Db,
  { orgId, memberId, keyId, key, fingerprint }: IdempotentCall,
): Promise<string> {
  const claim_id = newId()
  const named = { org_id: orgId, member_id: memberId, key_id: keyId, key, fingerprint }
  const nothing = { status: null, body_sealed: null, run_id: null, agent_run_id: null }
  await trx
    .insertInto('idempotency_keys')
    .values({ ...named, ...nothing, claim_id, leased_until: LEASE })
    .execute()
  return claim_id
}

/** Stores the answer of a leased call. Does nothing if the lease has ended and another call has the key. */
export async function settleLease(
  db: Db,
  call: IdempotentCall,
  claimId: string,
  { status, body, runId }: KeptAnswer,
): Promise<void> {
  const body_sealed = call.sealer.seal(body, bindingOf(call))
  await whereCall(db.updateTable('idempotency_keys'), call)
    .set({ status, body_sealed, run_id: runId, claim_id: null, leased_until: null })
    .where('claim_id', '=', claimId)
    .execute()
}

/** Releases the key of a leased call. */
export async function endLease(db: Db, call: IdempotentCall, claimId: string): Promise<void> {
  await whereCall(db.deleteFrom('idempotency_keys'), call).where('claim_id', '=', claimId).execute()
}

/** Releases the key of a failed agent run, so that the same call can be tried again. */
export async function releaseCall(db: Db, call: IdempotentCall): Promise<void> {
  await whereCall(db.deleteFrom('idempotency_keys').where('status', 'is', null), call).execute()
}

export async function forgetOldCalls(db: Db): Promise<void> {
  await sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`.execute(db)
}

function whereCall<
  Statement extends { where(column: 'org_id' | 'key_id' | 'key', op: '=', value: string): Statement },
>(statement: Statement, call: IdempotentCall): Statement {
  return statement
    .where('org_id', '=', call.orgId)
    .where('key_id', '=', call.keyId)
    .where('key', '=', call.key)
}
