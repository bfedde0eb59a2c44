import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Db } from '../../database/connection/db.ts'
import { openTransaction, type OpenTransaction } from '../../database/connection/open-transaction.ts'
import { AppError, invalid } from '../../lib/errors.ts'
import {
  type Claim,
  claimCall,
  endLease,
  findAnswer,
  handCallToRun,
  type IdempotentCall,
  type KeptAnswer,
  leaseCall,
  releaseCall,
  settleCall,
  settleLease,
} from '../../organisation/store/idempotency.ts'
import { nameRun, readRunName } from './envelope.ts'
import { errorBody } from './errors.ts'

const HEADER = 'idempotency-key'
const METHODS = new Set<unknown>(['POST', 'PATCH', 'DELETE'])
const RETRY_SECONDS = 1

/**
 * A call with an Idempotency-Key in progress. Its effect and its answer are committed in one transaction, and
 * `request.db` uses that transaction.
 */
export type OpenCall = {
  call: IdempotentCall
  /**
   * The database outside the transaction: for long reads, and for work that is kept even if the call fails.
   */
  outside: Db
  /** The open transaction. Null once the effect is committed before the answer, and for a leased call. */
  transaction: OpenTransaction | null
  /**
   * The id of the lease, for routes that call other services (`callsOut: 'repeatable'`): no transaction is
   * open during such a call.
   */
  leaseId: string | null
  isAnswered: boolean
}

/** Claims the key of a request. Runs after validation: invalid requests are answered by `answerRefusal`. */
export async function claimIdempotencyKey(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const call = readCall(request)
  if (call === undefined) return undefined
  const outside = request.db
  const transaction = await openTransaction(outside)
  const claim = await claimCall(transaction.trx, call).catch(async (cause: unknown) => {
    await transaction.rollback()
    throw cause
  })
  if (claim.state === 'ours') {
    const open = { call, outside, isAnswered: false }
    if (request.routeOptions.config.callsOut === 'repeatable') {
      const leaseId = await settle(transaction, () => leaseCall(transaction.trx, call))
      request.idempotentCall = { ...open, transaction: null, leaseId }
    } else {
      request.idempotentCall = { ...open, transaction, leaseId: null }
      request.db = transaction.trx
    }
    return undefined
  }
  await transaction.rollback()
  switch (claim.state) {
    case 'in_progress':
      throw new AppError(
        'Conflict',
        'A request with this Idempotency-Key is still in progress. Try again shortly',
        { retryAfter: RETRY_SECONDS },
      )
    case 'other_payload':
      throw new AppError(
        'Unprocessable Entity',
        'This Idempotency-Key was used with another request. Use a new key for a new request',
      )
    case 'done':
      return replay(reply, claim)
  }
}

/**
 * Replays the answer of a repeated deletion, which would otherwise be 404 because the resource is already
 * deleted. Returns true if the key belongs to that deletion.
 */
export async function replayDeletion(
  request: FastifyRequest,
  reply: FastifyReply,
  cause: unknown,
): Promise<boolean> {
  if (request.method !== 'DELETE' || !(cause instanceof AppError) || cause.status !== 404) return false
  const call = readCall(request)
  const answer = call === undefined ? undefined : await findAnswer(request.db, call)
  if (answer === undefined) return false
  replay(reply, answer)
  return true
}

function replay(reply: FastifyReply, { status, body, runId }: KeptAnswer): unknown {
  nameRun(reply, runId)
  return reply
    .code(status)
    .header('idempotency-replayed', 'true')
    .type('application/json; charset=utf-8')
    .send(body)
}

/** The longest refusal that is stored, in characters. Longer ones are computed again from the request. */
const MAX_REFUSAL = 4096

/**
 * Refuses a request for its own content. The same request will always be refused, so the refusal is stored
 * and replayed as successes are. A refusal has no effect and does not bind its key: the corrected request may
 * use the same key.
 */
export async function answerRefusal(
  request: FastifyRequest,
  reply: FastifyReply,
  refusal: AppError,
): Promise<unknown> {
  const call = readCall(request)
  const body = JSON.stringify(errorBody(refusal, request))
  if (call === undefined || body.length > MAX_REFUSAL) throw refusal
  const transaction = await openTransaction(request.db)
  let claim: Claim
  try {
    claim = await claimCall(transaction.trx, call)
    if (claim.state === 'ours') {
      await settleCall(transaction.trx, call, { status: refusal.status, body, runId: null })
    }
  } catch (cause) {
    await transaction.rollback()
    throw cause
  }
  await transaction.commit()
  if (claim.state === 'done') return replay(reply, claim)
  throw refusal
}

/**
 * Commits the effect with its answer before the answer is sent. A refusal releases the key: it changed
 * nothing, and its cause, such as missing credits or a running import, may be gone at the next attempt.
 */
export async function settleIdempotencyKey(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  const open = request.idempotentCall
  if (open === null) return payload
  request.idempotentCall = null
  request.db = open.outside
  const { call, transaction, leaseId } = open
  const answer = {
    status: reply.statusCode,
    body: typeof payload === 'string' ? payload : '',
    runId: readRunName(reply),
  }
  if (leaseId !== null) {
    if (answer.status >= 400) await endLease(open.outside, call, leaseId)
    else await settleLease(open.outside, call, leaseId, answer)
    return payload
  }
  if (transaction === null) {
    if (answer.status < 400 && !open.isAnswered) await settleCall(open.outside, call, answer)
    return payload
  }
  if (answer.status >= 400) await transaction.rollback()
  else await settleAndCommit(call, transaction, answer)
  return payload
}

/** Returns a database handle outside the transaction of a call with a key. */
export function getOutsideDb({ db, idempotentCall }: FastifyRequest): Db {
  return idempotentCall?.outside ?? db
}

/**
 * Commits the effect of the call with a preliminary answer, for handlers that then wait for something. The
 * final answer replaces it. Returns the database handle to continue with.
 */
export async function commitEffect(
  request: FastifyRequest,
  status: number,
  answer: unknown,
  runId: string | null = null,
): Promise<Db> {
  const open = request.idempotentCall
  request.endTurn()
  if (open?.transaction) {
    const { transaction } = open
    open.transaction = null
    request.db = open.outside
    await settleAndCommit(open.call, transaction, { status, body: JSON.stringify(answer), runId })
  }
  return request.db
}

/**
 * Releases the key of a call without an effect: the same key may be used for a later call that has one, and a
 * repeated call is answered again. Returns the database handle to continue with.
 */
export async function giveKeyBack(request: FastifyRequest): Promise<Db> {
  const open = request.idempotentCall
  if (open !== null) {
    request.idempotentCall = null
    request.db = open.outside
    await open.transaction?.rollback()
    if (open.leaseId !== null) await endLease(open.outside, open.call, open.leaseId)
  }
  return request.db
}

/**
 * A call that continues as a run of the agent. It is in progress as long as the run, and is settled in the
 * transaction that ends the run.
 */
export type RunCall = {
  handOver(agentRunId: string): Promise<Db>
  end(trx: Db, answer: string | null): Promise<void>
}

export function openRunCall(request: FastifyRequest): RunCall {
  const open = request.idempotentCall
  return {
    async handOver(agentRunId) {
      if (open?.transaction) {
        const { transaction } = open
        open.transaction = null
        request.db = open.outside
        await settle(transaction, () => handCallToRun(transaction.trx, open.call, agentRunId))
      }
      return request.db
    },
    async end(trx, answer) {
      if (open === null) return
      open.isAnswered = true
      if (answer === null) await releaseCall(trx, open.call)
      else await settleCall(trx, open.call, { status: 200, body: answer, runId: null })
    },
  }
}

async function settleAndCommit(
  call: IdempotentCall,
  transaction: OpenTransaction,
  answer: KeptAnswer,
): Promise<void> {
  await settle(transaction, () => settleCall(transaction.trx, call, answer))
}

async function settle<Result>(transaction: OpenTransaction, write: () => Promise<Result>): Promise<Result> {
  let result: Result
  try {
    result = await write()
  } catch (cause) {
    await transaction.rollback()
    throw cause
  }
  await transaction.commit()
  return result
}

/** Returns true if calls of this method accept an Idempotency-Key. */
export const takesKeys = (method: unknown): boolean => METHODS.has(method)

/** Removes the slash at the end of a path, because both forms are the same path (D8). */
const stripLastSlash = (url: string): string => url.replace(/^([^?]*[^/?])\/(?=$|\?)/, '$1')

function readCall(request: FastifyRequest): IdempotentCall | undefined {
  const key = request.headers[HEADER]
  if (key === undefined || !takesKeys(request.method)) return undefined
  // Keys are stored by caller. Without a caller the route itself handles repetitions.
  if (request.caller === undefined) return undefined
  if (typeof key !== 'string' || key.length === 0 || key.length > 255) {
    throw invalid('Idempotency-Key', 'must be one header of 1 to 255 characters')
  }
  const fingerprint = createHash('sha256')
    // The body of a DELETE is not read.
    .update(
      `${request.method} ${stripLastSlash(request.url)}\n${request.method === 'DELETE' ? '' : request.bodyText}`,
    )
    .digest()
  const { caller, sealer } = request
  const { orgId, memberId, keyId } = caller
  return { orgId, memberId, keyId, key, fingerprint, sealer }
}
