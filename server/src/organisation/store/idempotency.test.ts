import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '#server/lib/ids.ts'
import { createLog } from '#server/lib/log.ts'
import { createSealer } from '#server/lib/security/secrets.ts'
import { targets } from '#test/plumbing/databases.ts'
import { makeStore } from '#test/plumbing/harness.ts'
import { admitAgentRun, endAgentRun } from '../../agent/store/agent-runs.ts'
import { type Db, openStore, type Store } from '../../database/connection/db.ts'
import { openTransaction } from '../../database/connection/open-transaction.ts'
import {
  claimCall,
  endLease,
  forgetOldCalls,
  handCallToRun,
  type IdempotentCall,
  leaseCall,
  settleCall,
  settleLease,
} from './idempotency.ts'
import { insertOrganisation } from './organisations.ts'

const EMPTY = { status: 201, body: '{}', runId: null }

describe.each(targets())('D14: an Idempotency-Key on $name', (target) => {
  let store: Store
  let second: Store
  let orgId: string
  let db: Db

  beforeAll(async () => {
    const made = await makeStore(target)
    store = made.store
    second = openStore({ url: made.databaseUrl, log: createLog('silent') })
    orgId = await insertOrganisation(store.system, 'O')
    db = store.org(orgId)
    return () => second.close()
  })

  const makeCall = (call: Partial<IdempotentCall> = {}): IdempotentCall => ({
    orgId,
    memberId: newId(),
    keyId: newId(),
    key: randomUUID(),
    fingerprint: Buffer.from('a request'),
    sealer: createSealer('a secret for tests only'),
    ...call,
  })
  const age = (call: IdempotentCall, interval: string) =>
    store.query({
      text: `update idempotency_keys set created_at = now() - $1::interval where key = $2`,
      values: [interval, call.key],
    })

  /** Claims the key in a transaction that stays open until it is committed or rolled back. */
  async function begin(call: IdempotentCall, of: Store = store) {
    const transaction = await openTransaction(of.org(call.orgId))
    return { ...transaction, claim: await claimCall(transaction.trx, call) }
  }
  /** Returns the claim that another call would get. */
  async function ask(call: IdempotentCall, of: Store = store) {
    const { claim, rollback } = await begin(call, of)
    await rollback()
    return claim
  }
  async function answer(call: IdempotentCall, body: string) {
    const { trx, commit } = await begin(call)
    await settleCall(trx, call, { status: 201, body, runId: null })
    await commit()
  }

  it('belongs to the first call; others get in_progress, then its answer', async () => {
    const call = makeCall()
    const first = await begin(call)
    expect(first.claim).toEqual({ state: 'ours' })
    expect(await ask(call, second)).toEqual({ state: 'in_progress' })
    const kept = { status: 201, body: '{"answer":"größer"}', runId: newId() }
    await settleCall(first.trx, call, kept)
    expect(await ask(call, second)).toEqual({ state: 'in_progress' })
    await first.commit()
    const done = { state: 'done', ...kept }
    expect([await ask(call), await ask(call, second)]).toEqual([done, done])
  })

  it('belongs to exactly one of 20 simultaneous calls of two processes', async () => {
    const call = makeCall()
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) => begin(call, n % 2 === 0 ? store : second)),
    )
    expect(all.filter(({ claim }) => claim.state === 'ours')).toHaveLength(1)
    expect(all.filter(({ claim }) => claim.state === 'in_progress')).toHaveLength(19)
    await Promise.all(all.map(({ rollback }) => rollback()))
  })

  it('with another payload is refused once the first call is done', async () => {
    const call = makeCall()
    await answer(call, '{}')
    const other = { ...call, fingerprint: Buffer.from('another request') }
    expect(await ask(other)).toEqual({ state: 'other_payload' })
  })

  it('is free at once when its call was refused or its process has died, with any payload', async () => {
    const call = makeCall()
    const first = await begin(call)
    await settleCall(first.trx, call, EMPTY)
    await first.rollback()
    expect(await ask({ ...call, fingerprint: Buffer.from('another request') })).toEqual({ state: 'ours' })
  })

  it('is only claimed in a transaction, and the claim ends with it', async () => {
    await expect(claimCall(db, makeCall())).rejects.toThrow(
      'an idempotency key must be claimed inside a transaction',
    )
  })

  it('of a run of the agent is in progress as long as the run', async () => {
    const call = makeCall()
    const started = await begin(call)
    const admitted = await admitAgentRun(
      started.trx,
      {
        org_id: orgId,
        request_id: 'r',
        member_id: call.memberId,
        key_id: null,
        price_millis: 0,
        prompt: 'x',
      },
      { perHour: 100, atOnce: 100, maxSeconds: 100 },
    )
    if (admitted.kind !== 'admitted') throw new Error(admitted.kind)
    await handCallToRun(started.trx, call, admitted.run.agent_run_id)
    await started.commit()
    await age(call, '23 hours')
    expect(await ask(call)).toEqual({ state: 'in_progress' })
    const failure = { model: null, error: 'given up', answer: null, trace: null, spent: null }
    await endAgentRun(store.system, admitted.run, failure)
    expect(await ask(call)).toEqual({ state: 'ours' })
  })

  it('is kept for 24 hours', async () => {
    const [younger, older] = [makeCall(), makeCall()]
    for (const call of [younger, older]) {
      await answer(call, '{}')
    }
    await age(younger, '23 hours 59 minutes')
    await age(older, '24 hours 1 second')
    await forgetOldCalls(store.system)
    const kept = await db
      .selectFrom('idempotency_keys')
      .select('key')
      .where('key', 'in', [younger.key, older.key])
      .execute()
    expect(kept).toEqual([{ key: younger.key }])
    expect(await ask(younger)).toMatchObject({ state: 'done' })
    expect(await ask(older)).toEqual({ state: 'ours' })
  })

  it('is free after 24 hours, even before it is swept away', async () => {
    const call = makeCall()
    await answer(call, '{"old":true}')
    await age(call, '24 hours 1 second')
    await answer(call, '{"new":true}')
    expect(await ask(call)).toMatchObject({ state: 'done', body: '{"new":true}' })
  })

  it('that is leased is in progress until its lease ends, and its answer is stored under the id of its claim', async () => {
    const call = makeCall()
    const first = await begin(call)
    const claimId = await leaseCall(first.trx, call)
    await first.commit()
    expect(await ask(call, second)).toEqual({ state: 'in_progress' })
    expect(await ask({ ...call, fingerprint: Buffer.from('another request') })).toEqual({
      state: 'other_payload',
    })
    await store.query({
      text: `update idempotency_keys set leased_until = now() where key = $1`,
      values: [call.key],
    })
    const again = await begin(call, second)
    expect(again.claim).toEqual({ state: 'ours' })
    const secondClaim = await leaseCall(again.trx, call)
    await again.commit()
    // The first call is too late: the key belongs to the second.
    await settleLease(db, call, claimId, { ...EMPTY, body: '{"late":true}' })
    await endLease(db, call, claimId)
    expect(await ask(call)).toEqual({ state: 'in_progress' })
    await settleLease(db, call, secondClaim, EMPTY)
    expect(await ask(call)).toEqual({ state: 'done', ...EMPTY })
  })

  it('D99: is separate for each API key or session, and each organisation', async () => {
    const call = makeCall()
    const elsewhere = await insertOrganisation(store.system, 'P')
    await answer(call, '{"secret":true}')
    expect(await ask({ ...call, keyId: newId() })).toEqual({ state: 'ours' })
    expect(await ask({ ...call, orgId: elsewhere })).toEqual({ state: 'ours' })
    const intruding = store.org(elsewhere).transaction()
    await expect(intruding.execute((trx) => settleCall(trx, call, EMPTY))).rejects.toThrow(
      'row-level security',
    )
    // Row-level security hides the answers of other organisations, whatever the statement names.
    const seen = await store
      .org(elsewhere)
      .transaction()
      .execute((trx) => claimCall(trx, call))
    expect(seen).toEqual({ state: 'ours' })
  })
})
