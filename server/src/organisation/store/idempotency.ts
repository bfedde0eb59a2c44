import { sql } from 'kysely'
import type { Db } from '../../database/connection/db.ts'
import { newId } from '../../lib/ids.ts'
import { answerBinding } from '../../lib/security/bindings.ts'
import { type Sealer, tryOpen, unreadable } from '../../lib/security/secrets.ts'

export type IdempotentCall = {
  orgId: string
  memberId: string
  /** Of the API key or session that sent it, whose the words are (D99). */
  keyId: string
  key: string
  fingerprint: Buffer
  /** Answers may hold a new key or token, which is nowhere to be read afterwards. */
  sealer: Sealer
}

/** What a call was answered, with the run that its answer names in a header (D78). */
export type KeptAnswer = { status: number; body: string; runId: string | null }

export type Claim =
  | { state: 'ours' }
  | { state: 'in_progress' }
  | { state: 'other_payload' }
  | ({ state: 'done' } & KeptAnswer)

/**
 * Claims the key until the end of the caller's transaction, which is to hold the effect and the answer of the call; or says what
 * became of the call that had it before (D14). A process that dies takes its claim and its effect with it.
 */
export async function claimCall(trx: Db, call: IdempotentCall): Promise<Claim> {
  if (!trx.isTransaction) throw new Error('a key is claimed for a transaction')
  const name = `idempotency key ${call.orgId} ${call.keyId} ${call.key}`
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as locked`.execute(trx)
  if (rows[0]?.locked !== true) return { state: 'in_progress' }
  // By a statement of its own: one that takes the lock sees what was there before it had it.
  const earlier = await findCall(trx, call)
  if (earlier === undefined) return { state: 'ours' }
  const isSame = earlier.fingerprint.equals(call.fingerprint)
  // A refusal had no effect: the request may be mended and sent with the same key.
  const isMended = !isSame && earlier.status !== null && earlier.status >= 400
  if (earlier.is_over || isMended) {
    await ofCall(trx.deleteFrom('idempotency_keys'), call).execute()
    return { state: 'ours' }
  }
  if (!isSame) return { state: 'other_payload' }
  const body = openBody(call, earlier)
  if (earlier.status === null || body === null) return { state: 'in_progress' }
  return { state: 'done', status: earlier.status, body, runId: earlier.run_id }
}

/**
 * A call is over after 24 hours. One without an answer is over when its run of the agent is no longer under way, or its lease has
 * ended.
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
    'The answer to the request that had this Idempotency-Key',
    'look for its effect, and send a new key for a new request',
  )
}

/** What the same call was answered before, where it had an effect. */
export async function findAnswer(db: Db, call: IdempotentCall): Promise<KeptAnswer | undefined> {
  const earlier = await findCall(db, call)
  if (earlier === undefined || earlier.is_over || !earlier.fingerprint.equals(call.fingerprint))
    return undefined
  const { status, run_id: runId } = earlier
  if (status === null || status >= 400) return undefined
  const body = openBody(call, earlier)
  return body === null ? undefined : { status, body, runId }
}

/** Keeps the answer, in the transaction of what it answers. */
export async function settleCall(
  db: Db,
  call: IdempotentCall,
  { status, body, runId }: KeptAnswer,
): Promise<void> {
  const body_sealed = call.sealer.seal(body, bindingOf(call))
  await putCall(db, call, { status, body_sealed, run_id: runId, agent_run_id: null })
}

/** Leaves the call under way beyond its transaction, as long as the run is. */
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

/** Longer than a call to the outside may take. */
const LEASE = sql<Date>`now() + interval '2 minutes'`

/** Leaves the call under way beyond its transaction until the lease ends. Returns the id by which its answer is stored. */
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

/** Keeps the answer of a leased call. Does nothing once its lease has ended and another call has the key. */
export async function settleLease(
  db: Db,
  call: IdempotentCall,
  claimId: string,
  { status, body, runId }: KeptAnswer,
): Promise<void> {
  const body_sealed = call.sealer.seal(body, bindingOf(call))
  await ofCall(db.updateTable('idempotency_keys'), call)
    .set({ status, body_sealed, run_id: runId, claim_id: null, leased_until: null })
    .where('claim_id', '=', claimId)
    .execute()
}

/** Gives the key of a leased call back. */
export async function endLease(db: Db, call: IdempotentCall, claimId: string): Promise<void> {
  await ofCall(db.deleteFrom('idempotency_keys'), call).where('claim_id', '=', claimId).execute()
}

/** Gives the claim of a run that failed back, so that the same call can be tried again. */
export async function releaseCall(db: Db, call: IdempotentCall): Promise<void> {
  await ofCall(db.deleteFrom('idempotency_keys').where('status', 'is', null), call).execute()
}

export async function forgetOldCalls(db: Db): Promise<void> {
  await sql`delete from idempotency_keys where created_at < now() - interval '24 hours'`.execute(db)
}

function ofCall<
  Statement extends { where(column: 'org_id' | 'key_id' | 'key', op: '=', value: string): Statement },
>(statement: Statement, call: IdempotentCall): Statement {
  return statement
    .where('org_id', '=', call.orgId)
    .where('key_id', '=', call.keyId)
    .where('key', '=', call.key)
}
